"""Validation loss, and scores of translations through sacrebleu."""
