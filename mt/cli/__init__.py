"""A file per command; the only place that prints or ends the process."""
