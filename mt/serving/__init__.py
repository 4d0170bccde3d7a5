"""Translating over HTTP: what LibreTranslate's clients ask for, and the page."""
