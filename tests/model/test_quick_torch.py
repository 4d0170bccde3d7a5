"""torch in less time: the same results, and nothing lost to who needs the rest."""

import subprocess
import sys

QUICK = "from mt.model.quick_torch import SHAPES, import_torch; import_torch()\n"
RESULT = """
import sys, torch
torch.manual_seed(1)
layer = torch.nn.TransformerDecoderLayer(32, 4, batch_first=True).eval()
with torch.inference_mode():
    y = layer(torch.randn(3, 5, 32), torch.randn(3, 7, 32))
print(y.double().sum().item().hex(), y.argmax(-1).tolist())
"""
# An operator whose shape without data is told by the part that was left out, and nowhere else.
NO_DATA = """
import torch
x = torch.empty(3, 4, 5, device="meta")
try:
    shape = tuple(torch.ops.aten._cdist_forward(x, x, 2.0, None).shape)
except NotImplementedError:
    shape = None
print(shape)
"""


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_what_is_computed_is_the_same_to_the_last_bit() -> None:
    assert run(QUICK + RESULT) == run(RESULT)


def test_the_part_for_compilers_is_left_out_until_somebody_imports_it() -> None:
    assert run(NO_DATA) == "(3, 4, 4)\n"
    assert run(QUICK + NO_DATA) == "None\n"
    later = QUICK + "from mt.model.quick_torch import complete_torch; complete_torch()"
    assert run(later + NO_DATA) == "(3, 4, 4)\n"


def test_it_can_be_compiled_then() -> None:
    code = """
import torch
from mt.model.quick_torch import complete_torch
complete_torch()
add = torch.compile(lambda x: (x.sin() + 1).softmax(-1), backend="aot_eager")
print(add(torch.ones(2)).tolist())
"""
    assert run(QUICK + code) == "[0.5, 0.5]\n"


def test_an_imported_torch_is_left_alone() -> None:
    before = "import torch, sys; before = sys.modules['torch._meta_registrations']\n"
    after = "print(sys.modules[SHAPES] is before)\n"
    assert run(before + QUICK + after + NO_DATA) == "True\n(3, 4, 4)\n"


def test_garbage_is_collected_afterwards_if_it_was_before() -> None:
    print_it = "import gc; print(gc.isenabled())"
    assert run(QUICK + print_it) == "True\n"
    assert run("import gc; gc.disable()\n" + QUICK + print_it) == "False\n"
