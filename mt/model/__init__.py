"""Tensors only, never a string: attention, layers, the Transformer, the torch-backed one."""
