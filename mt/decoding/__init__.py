"""Search over a model's state, and the Translator: strings to strings."""
