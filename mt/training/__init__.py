"""Loss, optimizer and schedule, checkpoints, metrics log and the Trainer."""
