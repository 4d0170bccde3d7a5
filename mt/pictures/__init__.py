"""Attention to look at: as an image, and as a page."""
