"""Strings only: corpus readers, cleaning, splits, tokenizers, detokenizing, the phrasebook."""
