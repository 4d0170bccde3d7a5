"""The manual cannot go stale: its commands run, its links lead somewhere, its code is the code."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mt.cli.main import build_parser
from mt.config_file import load_config
from mt.text.phrasebook import phrasebook
from tests.cli.manual import PAGES, Block, anchors, blocks, commands, links
from tests.cli.shell import shell, shell_with_mt
from tests.conftest import ROOT

README = ROOT / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial.md"
RECIPE = ROOT / "docs" / "recipe.md"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Of shells that have `mt`."""
    with shell_with_mt(tmp_path_factory.mktemp("shell")) as environment:
        yield environment


def runs(block: Block, folder: Path, environment: dict[str, str]) -> str:
    """What the commands of a block print, all of them run or read as its marker says."""
    printed, text = [], block.text
    for rule in block.rules("with"):
        old, new = rule.split(" -> ")
        assert old in text, rule
        text = text.replace(old, new)
    for command in commands(text):
        if block.ruled("parse", command):
            read(command)
        elif not block.ruled("skip", command):
            added = " ".join(block.rules("train"))
            printed.append(shell(command, folder, environment, added))
    return "".join(printed)


def read(command: str) -> None:
    """Has the parser read what `mt` gets in a command; a SystemExit if it does not understand."""
    words = shlex.split(command.replace("\\\n", " "), comments=True)
    build_parser().parse_args(words[words.index("mt") + 1 :])


def labels(text: str) -> set[str]:
    """What lines of `mt` begin with, before the first figure or wide space; other lines have none.

    The figures depend on the machine, and here on training cut short.
    """
    found = [re.match(r"[A-Za-z][A-Za-z ]*?(?=  |:? ?[\d…]|$)", line) for line in text.splitlines()]
    return {match[0] for match in found if match and "  " not in match[0] and match[0] in LABELS}


LABELS = {
    "data", "split", "vocabulary", "unknown", "model", "batches", "learning", "steps", "step",
    "BLEU", "chrF", "ended after step", "best: step", "time", "done", "dropped", "an epoch",
    "identical", "exported to",
}  # fmt: skip


def follow(page: list[Block], folder: Path, environment: dict[str, str]) -> None:
    """Runs the blocks of a page in order, and compares what it shows with what they print."""
    printed = ""
    for block in page:
        if block.marker.startswith("file: "):
            (folder / block.marker.removeprefix("file: ")).write_text(block.text, "utf-8")
        elif block.kind == "bash":
            printed = runs(block, folder, environment)
        elif block.kind == "text" and printed:
            assert labels(block.text) <= labels(printed), f"line {block.line}: {printed}"


def write_pairs(folder: Path, **files: int) -> None:
    """So many pairs of the phrasebook in NAME.en and NAME.it."""
    pairs = phrasebook()["train"]
    for side, language in enumerate(("en", "it")):
        for name, count in files.items():
            lines = [pair[side] + "\n" for pair in pairs[:count]]
            (folder / f"{name}.{language}").write_text("".join(lines), "utf-8")


def test_the_demo_of_the_readme(here: Path, environment: dict[str, str]) -> None:
    """The script itself, in a clone that has its environment already, on less text."""
    write_pairs(here, small=300)
    for part in ("scripts", "configs"):
        shutil.copytree(ROOT / part, here / part)
    for file in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / file, here)
    programs = Path(environment["PATH"].partition(":")[0])
    (here / ".venv").mkdir()
    (here / ".venv" / "bin").symlink_to(programs)
    sums = shell("cat pyproject.toml constraints.txt | cksum", here, environment)
    (here / ".venv" / "installed").write_text(f"{sums.strip()} \n", "utf-8")
    first, shown = blocks(README)[:2]
    assert next(commands(first.text)).startswith("scripts/demo.sh")
    follow([first, shown], here, environment)
    assert (here / "weights" / "phrasebook" / "evaluation" / "test" / "hyp.it").exists()


def test_every_other_command_of_the_readme(trained: Path, environment: dict[str, str]) -> None:
    """On a model that is there, and text for it."""
    write_pairs(trained, train=2400, book=8, chapters=3, big=8)
    page = blocks(README)[2:]
    assert sum(block.kind == "bash" for block in page) >= 4
    follow(page, trained, environment)
    config = load_config(trained / "mine.yaml")
    assert (config.tokenizer.shared, config.model.tie_embeddings) == (True, "all")
    assert len((trained / "book.it").read_text("utf-8").splitlines()) == 8


def test_every_command_of_the_tutorial(here: Path, environment: dict[str, str]) -> None:
    (here / "configs").symlink_to(ROOT / "configs")
    follow(blocks(TUTORIAL), here, environment)
    assert (here / "weights" / "mine" / "ctranslate2" / "model.bin").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings_that_are_there(page: Path) -> None:
    for link in links(page):
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        assert target.is_relative_to(ROOT), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen, todo = set(), [README]
    while todo:
        page = todo.pop()
        seen.add(page)
        paths = [(page.parent / link.partition("#")[0]).resolve() for link in links(page)]
        todo += [path for path in paths if path.suffix == ".md" and path not in seen]
    assert seen >= set(PAGES)


def defined(tree: ast.AST, dotted: str) -> bool:
    """Whether a class, function, method or field `dotted` is in the code."""
    node = tree
    for name in dotted.split("."):
        inner = [
            n for n in getattr(node, "body", ())
            if getattr(n, "name", None) == name
            or (isinstance(n, ast.AnnAssign) and ast.unparse(n.target) == name)
            or (isinstance(n, ast.Assign) and name in map(ast.unparse, n.targets))
        ]  # fmt: skip
        if not inner:
            return False
        node = inner[0]
    return True


def references(page: Path) -> list[tuple[str, str]]:
    """Names of code with the files that they are said to be in."""
    pattern = r"\[`([\w.]+)`\]\(\.\./(mt/[\w/]+\.py)\)"
    return re.findall(pattern, page.read_text("utf-8"))


def test_the_recipe_names_and_quotes_the_code_as_it_is() -> None:
    found = references(RECIPE)
    assert len(found) > 20
    for name, file in found:
        assert defined(ast.parse((ROOT / file).read_text("utf-8")), name), f"{name} in {file}"
    quoted = [block for block in blocks(RECIPE) if block.kind == "python"]
    assert len(quoted) > 5
    for block in quoted:
        source = (ROOT / block.marker.removeprefix("code: ")).read_text("utf-8")
        whole = "".join(line.strip() + "\n" for line in source.splitlines() if line.strip())
        for part in block.text.split("...\n"):
            lines = "".join(line.strip() + "\n" for line in part.splitlines() if line.strip())
            assert lines in whole, f"{RECIPE.name}, line {block.line}: not in the code:\n{lines}"


def messages() -> list[str]:
    """Every text in the program, with … for what is filled in."""
    found = []
    for file in (ROOT / "mt").rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        inner = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                parts = [v.value if isinstance(v, ast.Constant) else "…" for v in node.values]
                found.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found += [node.value] if id(node) not in inner else []
    return [re.sub(r"%[.\d]*[sdfg]", "…", message) for message in found]


def test_troubleshooting_quotes_what_the_program_says() -> None:
    said = messages()
    page = ROOT / "docs" / "troubleshooting.md"
    text = re.sub(r"`[^`\n]*`", lambda code: code[0].replace('"', ""), page.read_text("utf-8"))
    quotations = re.findall(r'"([^"]+)"', text)
    assert len(quotations) > 25
    for quotation in quotations:
        parts = [part.strip() for part in " ".join(quotation.split()).split("…")]
        near = [message for message in said if all(part in message for part in parts)]
        pattern = re.compile(".*?".join(map(re.escape, parts)), re.DOTALL)
        assert any(map(pattern.search, near)), quotation


def test_the_checks_notice_what_is_wrong(here: Path) -> None:
    """Or those above would show nothing."""
    page = here / "page.md"
    page.write_text(
        "# A title: of `code`\n\nsee [x](none.md#a), `[no](link)`\n\n"
        "<!-- test: train --set a=1; skip pip (it installs) -->\n"
        "```bash\nmt train \\\n  --config x  # why\npip install y\ncat <<'END'\na b\nEND\n```\n",
        "utf-8",
    )
    (block,) = blocks(page)
    assert list(commands(block.text)) == [
        "mt train \\\n  --config x  # why", "pip install y", "cat <<'END'\na b\nEND"
    ]  # fmt: skip
    assert block.rules("train") == ["--set a=1"]
    assert block.ruled("skip", "pip install y")
    assert not block.ruled("skip", "mt train")
    with pytest.raises(AssertionError, match="say why"):
        block._replace(marker="test: skip pip").ruled("skip", "pip")
    assert (links(page), anchors(page)) == (["none.md#a"], {"a-title-of-code"})
    assert labels("BLEU 97.71   (nrefs:1)\nChe bello.\nstep 5: x") == {"BLEU", "step"}
    tree = ast.parse("class A:\n    x: int\n    def f(self): ...\n")
    assert defined(tree, "A.f")
    assert defined(tree, "A.x")
    assert not defined(tree, "A.g")
    with pytest.raises(SystemExit):
        read("torchrun -m mt train --confg x")


def test_a_command_that_fails_is_noticed(here: Path, environment: dict[str, str]) -> None:
    with pytest.raises(AssertionError, match="no such config file"):
        shell("mt data --config none.yaml | cat", here, environment)
    assert subprocess.run(["mt", "--version"], env=environment, check=True).returncode == 0
