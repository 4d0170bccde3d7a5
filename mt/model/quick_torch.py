"""torch for a command that only computes, imported in three quarters of the time it takes.

What it leaves out teaches every operator, in Python, the shape of its result without data:
compilers and tensors on the "meta" device ask for that, and torch.Generator for a part of it.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from types import ModuleType

SHAPES = "torch._meta_registrations"


def import_torch() -> None:
    """Imports torch without that, unless torch is imported already."""
    if "torch" in sys.modules:
        return
    collected = gc.isenabled()
    gc.disable()  # an import makes much and leaves nothing to collect
    sys.modules[SHAPES] = ModuleType(SHAPES)
    try:
        import torch  # noqa: F401
    finally:
        del sys.modules[SHAPES]
        if collected:
            gc.enable()
    gc.freeze()


def complete_torch() -> None:
    """Imports what `import_torch` left out, if it did; for who draws numbers, or compiles."""
    import_module(SHAPES)
