"""torch for a command that only computes, imported in three quarters of the time it takes."""

from __future__ import annotations

import gc
import sys
from types import ModuleType

# Teaches every operator, in Python, the shape of its result without data, which tracing compilers
# and tensors on the "meta" device ask for. No model that translates does.
SHAPES = "torch._meta_registrations"


def import_torch() -> None:
    """Imports torch without the part that only compilers need, unless it is imported already.

    Who compiles later must import `torch._meta_registrations` by its name before.
    """
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
