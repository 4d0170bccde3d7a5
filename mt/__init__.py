"""mt trains translation models from one config file and translates with them."""

__version__ = "0.1.0"
