"""Runs on disk: files that are whole or not there, checkpoints with checksums, model folders."""
