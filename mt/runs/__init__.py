"""What is known of runs, read from the files that they leave: no torch, nothing is written."""
