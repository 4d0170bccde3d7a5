"""Text becomes ids: datasets of ids, batches, collation and the padding of a batch."""
