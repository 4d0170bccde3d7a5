"""The house: which room may know which, who may print, and what the source never contains."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

# In the order that text flows through them: each may import those before it and itself.
ROOMS = (
    "errors", "strict_yaml", "complaints", "wording", "config", "config_file", "config_schema",
    "progress", "distributed", "text", "data", "model", "storage", "decoding", "pictures",
    "evaluation", "export", "training", "runs", "serving", "cli",
)  # fmt: skip
PACKAGE = ROOT / "mt"
FILES = sorted(PACKAGE.rglob("*.py"))
NAMES = [str(file.relative_to(PACKAGE)) for file in FILES]
UNSAFE_MODULES = {
    "pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal",
    "subprocess", "ctypes",
}  # fmt: skip
UNSAFE_CALLS = {
    "torch.load", "torch.save", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "eval", "exec",
    "compile", "os.system", "os.popen", "runpy.run_path", "numpy.load", "np.load",
}  # fmt: skip


def room_of(file: Path) -> str:
    first = file.relative_to(PACKAGE).parts[0]
    return {"__init__.py": "errors", "__main__.py": "cli"}.get(first, first.removesuffix(".py"))


def imports(tree: ast.AST, package: str = "mt") -> Iterator[str]:
    """Dotted names of all imports, wherever they stand; `package` resolves relative ones."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1]
            stem = ".".join([*(base if node.level else []), *filter(None, [node.module])])
            yield from (f"{stem}.{alias.name}" for alias in node.names)


def rooms_entered(tree: ast.AST, package: str = "mt") -> set[str]:
    parts = [name.split(".") for name in imports(tree, package)]
    return {p[1] for p in parts if p[0] == "mt" and len(p) > 1 and p[1] in ROOMS}


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def calls(tree: ast.AST) -> set[str]:
    return {dotted(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def ends_the_process(tree: ast.AST) -> bool:
    raised = [n.exc for n in ast.walk(tree) if isinstance(n, ast.Raise) and n.exc is not None]
    names = {dotted(e.func) if isinstance(e, ast.Call) else dotted(e) for e in raised}
    return "SystemExit" in names or bool(calls(tree) & {"sys.exit", "exit", "quit", "os._exit"})


@pytest.fixture(params=FILES, ids=NAMES)
def file(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture
def tree(file: Path) -> ast.AST:
    return ast.parse(file.read_text("utf-8"))


def test_every_file_is_in_a_known_room(file: Path) -> None:
    assert room_of(file) in ROOMS


def test_imports_only_go_up(file: Path, tree: ast.AST) -> None:
    package = ".".join(file.relative_to(ROOT).parts[:-1])
    own = ROOMS.index(room_of(file))
    below = {room for room in rooms_entered(tree, package) if ROOMS.index(room) > own}
    assert not below, f"{room_of(file)} must not know {', '.join(sorted(below))}"


def test_only_the_command_line_prints_or_ends_the_process(file: Path, tree: ast.AST) -> None:
    if room_of(file) == "cli":
        return
    assert "print" not in calls(tree)
    assert not ends_the_process(tree)


def test_nothing_unpickles_or_runs_what_it_reads(file: Path, tree: ast.AST) -> None:
    assert not {name.split(".")[0] for name in imports(tree)} & UNSAFE_MODULES
    assert not calls(tree) & UNSAFE_CALLS
    assert "weights_only" not in ast.dump(tree)
    assert "trust_remote_code" not in ast.dump(tree)


def test_text_knows_no_tensors_and_the_command_line_imports_nothing_heavy_at_its_top(
    file: Path, tree: ast.AST
) -> None:
    if room_of(file) == "text":
        assert "torch" not in {name.split(".")[0] for name in imports(tree)}
    if room_of(file) == "cli" and file.name != "report.py":  # which is imported when work begins
        assert isinstance(tree, ast.Module)
        top = ast.Module([n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)], [])
        heavy = {"torch", "datasets", "numpy", "tokenizers", "pydantic", "yaml", "sacrebleu"}
        assert not {name.split(".")[0] for name in imports(top)} & heavy
        assert rooms_entered(top) <= {"errors", "wording", "cli"}


@pytest.mark.parametrize(
    ("source", "rooms"),
    [
        ("import mt.cli.main", {"cli"}),
        ("from mt import config, text", {"config", "text"}),
        ("def f():\n    from mt.training.run import Run", {"training"}),
        ("if TYPE_CHECKING:\n    from mt.model import build", {"model"}),
        ("from ..storage import atomic", {"storage"}),
        ("from . import rows", {"text"}),
        ("import torch, mtx.cli", set()),
    ],
)
def test_the_reading_of_imports(source: str, rooms: set[str]) -> None:
    assert rooms_entered(ast.parse(source), "mt.text") == rooms


@pytest.mark.parametrize(
    "source", ["raise SystemExit", "raise SystemExit(2)", "import sys\nsys.exit(1)", "os._exit(0)"]
)
def test_the_finding_of_exits(source: str) -> None:
    assert ends_the_process(ast.parse(source))
