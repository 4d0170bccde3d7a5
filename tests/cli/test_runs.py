"""`mt runs`: what it tells of runs of every kind, from their files alone."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from mt.cli.runs import KEYS
from mt.decoding.torch_engine import open_translator
from mt.model.build import count_parameters
from mt.pictures.curves import Curve
from mt.pictures.svg_curves import _axis, svg_curves
from mt.runs.table import columns, shorten, text_width
from mt.storage.checkpoint import list_checkpoints
from mt.storage.lock import FolderLock
from mt.storage.model_folder import find_model
from mt.storage.record import read_metrics
from tests.conftest import Result

Mt = Callable[..., Result]
CHECKPOINTS = Path("weights/toy/checkpoints")


@pytest.fixture
def copied(training_folder: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder with copies of the trained run `toy`."""
    monkeypatch.delenv("COLUMNS", raising=False)
    for part in ("runs", "weights"):
        shutil.copytree(training_folder / part, here / part)
    return here


def copy_run(name: str) -> None:
    for place in ("runs", "weights"):
        shutil.copytree(f"{place}/toy", f"{place}/{name}")


def rows(mt: Mt, *arguments: str) -> list[dict[str, str]]:
    result = mt("runs", "--csv", *arguments)
    assert (result.status, result.err) == (0, "")
    return list(csv.DictReader(result.out.splitlines()))


def only(mt: Mt) -> dict[str, object]:
    (run,) = json.loads(mt("runs", "--json").out)
    return run


def test_a_run_that_ended(copied: Path, mt: Mt) -> None:
    (row,) = rows(mt)
    assert (row["state"], row["why"]) == ("ended", "training.epochs is 40")
    assert (row["name"], row["data"], row["languages"]) == ("toy", "pairs.jsonl", "en-it")
    run = only(mt)
    data = json.loads(Path("weights/toy/data.json").read_text())
    assert run["pairs"] == data["splits"]["train"]["pairs"] == int(row["pairs"])
    last = list_checkpoints(CHECKPOINTS)[-1]
    assert run["step"] == run["total"] == int(last.name[5:])
    best = json.loads((find_model("toy").pointer("best") / "state.json").read_text())
    assert run["valid"] == best["progress"]["scores"]
    assert 0 < run["seconds"] < 600
    assert run["tests"] == {}


def test_parameters_are_those_of_the_model(copied: Path, mt: Mt) -> None:
    model = open_translator(find_model("toy"), torch.device("cpu")).engine.model
    assert only(mt)["parameters"] == count_parameters(model)


def test_scores_of_an_evaluation_with_their_signature(trained: Path, mt: Mt) -> None:
    printed = mt("evaluate").out
    signature = re.search(r"BLEU 100.00 .*?\((nrefs[^)]*)\)", printed)
    assert signature is not None
    result = mt("runs")
    assert f"test BLEU: {signature[1]}" in result.out.splitlines()
    (row,) = rows(mt)
    assert float(row["bleu"]) == pytest.approx(100)
    # Trained on: the scores are of a model that is no longer the one that translates.
    future = time.time() + 100
    best = find_model("toy").pointer("best")
    scores = json.loads(Path("weights/toy/evaluation/test/scores.json").read_text())
    if "checkpoint" not in scores:
        os.utime(best / "state.json", (future, future))
        assert "100.00*" in mt("runs").out
        assert "* of an earlier checkpoint than the one that translates now" in mt("runs").out
    shutil.copytree("weights/toy/evaluation/test", "weights/toy/evaluation/news")
    assert "news BLEU" in mt("runs", "--on", "news").out
    assert "sentences" in mt("runs", "toy").out


def test_what_is_going_on_is_seen_by_its_lock(copied: Path, mt: Mt) -> None:
    lock = FolderLock(Path("weights/toy"))
    assert (only(mt)["state"], only(mt)["why"]) == ("running", f"process {os.getpid()}")
    lock.release()
    assert only(mt)["state"] == "ended"


def test_one_that_was_stopped_says_by_what_and_how_long_all_starts_took(
    copied: Path, mt: Mt
) -> None:
    Path("runs/toy/history.jsonl").write_text(
        '{"began": "2026-11-30T12:00:00+00:00", "step": 0, "total": 800, "device": "cpu"}\n'
        '{"stopped": "2026-11-30T12:10:00+00:00", "step": 4, "why": "SIGTERM"}\n'
        '{"began": "2026-11-30T14:00:00+00:00", "step": 4, "total": 900, "device": "cpu"}\n'
        '{"failed": "2026-11-30T14:20:00+00:00", "step": 9, "why": "no room"}\n'
    )
    run = only(mt)
    assert (run["state"], run["why"], run["seconds"]) == ("stopped", "no room", 1800)
    assert (run["total"], run["starts"]) == (900, 2)
    out = mt("runs", "toy").out
    assert re.search(r"^time +30 min in 2 starts$", out, re.M)
    assert "the command that began it goes on with it" in out


def test_one_that_was_killed(copied: Path, mt: Mt) -> None:
    history = Path("runs/toy/history.jsonl")
    history.write_text(history.read_text().splitlines()[0] + "\n")
    run = only(mt)
    assert (run["state"], run["why"]) == ("stopped", "killed, or the machine went down")
    assert 0 < run["seconds"] < 600
    shutil.rmtree(CHECKPOINTS)
    CHECKPOINTS.mkdir()
    assert str(only(mt)["why"]).endswith("; no checkpoint yet")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda: (list_checkpoints(CHECKPOINTS)[-1] / "state.json").write_text("{}"),
         "state.json does not match its checksum"),
        (lambda: os.truncate(list_checkpoints(CHECKPOINTS)[-1] / "model.safetensors", 5000),
         "model.safetensors has not the length that it was written with"),
        (lambda: (list_checkpoints(CHECKPOINTS)[-1] / "model.safetensors").write_bytes(b"x" * 99),
         "model.safetensors is not readable"),
        (lambda: (list_checkpoints(CHECKPOINTS)[-1] / "model.safetensors").unlink(),
         "model.safetensors is missing"),
        (lambda: Path("weights/toy/data.json").write_text("[1"),
         "data.json is missing or damaged"),
        (lambda: Path("weights/toy/config.yaml").unlink(), "config.yaml is missing"),
        (lambda: Path("runs/toy/metrics.jsonl").write_text("{\n"), "metrics.jsonl is not readable"),
    ],
    ids=["state", "cut short", "overwritten", "gone", "data", "config", "metrics"],
)  # fmt: skip
def test_what_is_damaged_is_named(
    copied: Path, mt: Mt, damage: Callable[[], object], said: str
) -> None:
    damage()
    run = only(mt)
    assert run["state"] == "damaged"
    assert str(run["why"]).endswith(said)
    assert said in mt("runs").out


def test_half_a_run_is_told_as_what_it_is(copied: Path, mt: Mt) -> None:
    copy_run("model-alone")
    copy_run("record-alone")
    shutil.rmtree("runs/model-alone")
    shutil.rmtree("weights/record-alone")
    Path("runs/toy/history.jsonl").unlink()  # a run of a time when there was none
    states = {run["name"]: (run["state"], run["why"]) for run in rows(mt)}
    assert states == {
        "toy": ("ended", ""),
        "model-alone": ("model", "copied here, or its record was removed"),
        "record-alone": ("stopped", "no model in weights/record-alone"),
    }


def test_newest_first_or_by_any_column(copied: Path, mt: Mt) -> None:
    assert [column.key for column in columns("test")] == list(KEYS)
    copy_run("older")
    copy_run("empty")
    for path in [
        *Path("runs/older").iterdir(),
        *list_checkpoints(Path("weights/older/checkpoints")),
    ]:
        os.utime(path, (1e9, 1e9))
    shutil.rmtree("weights/empty")
    shutil.rmtree("runs/empty")
    Path("runs/empty").mkdir()
    newest = [row["name"] for row in rows(mt)]
    assert newest == ["toy", "older", "empty"]
    assert [row["name"] for row in rows(mt, "--reverse")] == ["older", "toy", "empty"]
    assert [row["name"] for row in rows(mt, "--sort", "name")] == ["empty", "older", "toy"]
    for key in KEYS:
        assert len(rows(mt, "--sort", key)) == 3
    best = find_model("older").pointer("best") / "state.json"
    assert [row["name"] for row in rows(mt, "--sort", "valid-loss")][-1] == "empty"
    assert best.is_file()
    wrong = mt("runs", "--sort", "nmae")
    assert wrong.status == 2
    assert "nmae" in wrong.err


def test_the_table_fits_the_terminal(copied: Path, mt: Mt, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_run("a-run-with-a-name-that-is-much-too-long-for-any-terminal")
    copy_run("名前")
    whole = mt("runs")
    assert whole.err == ""
    for width in (40, 60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        result = mt("runs")
        lines = result.out.splitlines()
        assert len(lines) == 4
        assert max(map(text_width, lines)) <= width
        assert ("no room for: " in result.err) == (width < 120 or "no room" in result.err)
        assert all("ended" in line for line in lines[1:])
    assert text_width("名前é\u0301") == 5
    assert shorten("名前名前", 6) == "名前…"


def test_the_curves_of_one_run(copied: Path, mt: Mt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    out = mt("runs", "toy").out
    assert "state        ended: training.epochs is 40" in out
    assert "⠶ train   ● valid" in out
    picture = out[out.index("loss, nats") :]
    assert max(map(len, picture.splitlines())) <= 70
    assert mt("runs", "weights/toy").out == mt("runs", "runs/toy").out == out
    curves = json.loads(mt("runs", "toy", "--json").out)["curves"]
    lines = [json.loads(line) for line in Path("runs/toy/metrics.jsonl").read_text().splitlines()]
    expected = [[line["step"], line["train/loss"]] for line in lines if "train/loss" in line]
    assert curves["train/loss"] == expected
    table = list(csv.DictReader(mt("runs", "toy", "--csv").out.splitlines()))
    got = [[float(r["step"]), float(r["train/loss"])] for r in table if r["train/loss"]]
    assert got == expected


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ("", "loss, nats a token, by step: nothing is recorded yet"),
        ('{"step": 1, "train/loss": 2.5}\n', "⠶ train\n"),
        ('{"step": 1, "train/loss": NaN}\n', "⠶ train (1 not finite, left out)\n"),
    ],
    ids=["nothing", "one point", "NaN"],
)
def test_curves_of_little(copied: Path, mt: Mt, record: str, said: str) -> None:
    Path("runs/toy/metrics.jsonl").write_text(record)
    result = mt("runs", "toy")
    assert result.status == 0
    assert said in result.out
    assert "BLEU of validation, by step: nothing is recorded" in result.out
    json.loads(mt("runs", "toy", "--json").out, parse_constant=lambda name: pytest.fail(name))


def test_a_name_that_is_not_there(copied: Path, mt: Mt) -> None:
    result = mt("runs", "tov")
    assert (result.status, result.out) == (2, "")
    assert f"mt: no run tov in {copied}/runs or {copied}/weights; did you mean toy?" in result.err
    (copied / "elsewhere" / "toy").mkdir(parents=True)
    assert mt("runs", "elsewhere/toy").status == 2
    Path("runs/toy/metrics.jsonl").write_text("{\n")
    result = mt("runs", "toy")
    assert result.status == 2
    assert "metrics.jsonl is damaged" in result.err


def test_no_runs_at_all(here: Path, mt: Mt) -> None:
    result = mt("runs")
    assert (result.status, result.out) == (0, "")
    assert f"no runs in {here}/runs and {here}/weights; `mt train" in result.err
    assert mt("runs", "--json").out == "[]\n"
    assert list(here.iterdir()) == []


def test_it_imports_no_torch_and_is_fast_with_a_hundred_runs(copied: Path) -> None:
    for i in range(99):
        for place in ("runs", "weights"):
            shutil.copytree(f"{place}/toy", f"{place}/run-{i}", copy_function=os.link)
    program = (
        "import sys, time\nfrom mt.cli.main import main\n"
        "main(['runs', '--csv'])\nbegan = time.process_time()\nmain(['runs', '--csv'])\n"
        "heavy = {'torch', 'datasets', 'numpy', 'sacrebleu'} & set(sys.modules)\n"
        "print(time.process_time() - began, heavy, file=sys.stderr)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    seconds, _, heavy = ended.stderr.decode().strip().partition(" ")
    assert heavy == "set()"
    assert float(seconds) < 1.0  # of processor time
    assert len(ended.stdout.splitlines()) == 2 * 101


class Page(HTMLParser):
    """What a page holds: the text of each kind of element, and whatever it would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = defaultdict(list)
        self.fetched: list[str] = []
        self.polylines: list[int] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []  # all that was opened was closed

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        self.fetched += [str(values[name]) for name in ("src", "href") if name in values]
        if tag != "meta":
            self.open.append(tag)
        if tag == "polyline":
            self.polylines.append(len(str(values["points"]).split()))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_data(self, text: str) -> None:
        if self.open:
            self.texts[self.open[-1]].append(text)


def test_the_page_of_a_run_has_all_of_it_and_fetches_nothing(
    copied: Path, training_folder: Path, mt: Mt
) -> None:
    for file in training_folder.glob("*.jsonl"):
        shutil.copy(file, copied)
    assert mt("evaluate", "--model", "toy").status == 0
    config = Path("weights/toy/config.yaml")
    config.write_text(config.read_text("utf-8") + "# <b>not bold</b>\n", "utf-8")
    result = mt("runs", "toy", "--html", "toy.html")
    assert (result.status, result.out) == (0, "")
    assert result.err == f"the page is in {Path('toy.html').absolute()}\n"
    text = Path("toy.html").read_text("utf-8")
    page = Page(text)
    assert page.fetched == []
    assert "url(" not in text
    assert "<script" not in text
    assert page.texts["pre"] == [config.read_text("utf-8")]
    recorded = json.loads(mt("runs", "toy", "--json").out)
    for tag in ("train/loss", "valid/loss", "valid/bleu"):
        assert len(recorded["curves"][tag]) in page.polylines
    cells = page.texts["td"]
    for metric, value in recorded["tests"]["test"]["scores"].items():
        at = cells.index({"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}[metric])
        assert cells[at + 1 : at + 3] == [
            f"{value:.2f}", recorded["tests"]["test"]["signatures"][metric]
        ]  # fmt: skip
    samples = [line for line in read_metrics(Path("runs/toy")) if "valid/samples" in line]
    for row in samples[-1]["valid/samples"]:
        assert set(row.values()) <= set(cells)
    assert any(cell.startswith("66 train, ") for cell in cells)
    assert any(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d [+-]\d{4}", cell) for cell in cells)


def test_the_page_of_a_run_of_which_little_is_left(copied: Path, mt: Mt) -> None:
    shutil.rmtree("weights/toy")
    (copied / "runs/toy/metrics.jsonl").write_text("", "utf-8")
    assert mt("runs", "toy", "--html", "toy.html").status == 0
    text = " ".join(Page(Path("toy.html").read_text("utf-8")).texts["p"])
    for words in ("nothing is recorded yet", "none yet", "no report", "none were translated"):
        assert words in text


def test_a_page_is_of_one_run_and_goes_where_it_can(copied: Path, mt: Mt) -> None:
    result = mt("runs", "--html", "toy.html")
    assert (result.status, result.out) == (2, "")
    assert "--html is the page of one run: `mt runs NAME --html FILE`" in result.err
    for place, complaint in (
        ("weights", "weights is a folder, not a file"),
        ("nowhere/toy.html", "nowhere/toy.html: there is no such folder"),
        ("", "--html is empty: give the name of a file"),
    ):
        result = mt("runs", "toy", "--html", place)
        assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
        assert complaint in result.err


def test_axes_are_round_and_hold_all_points() -> None:
    for low, high in ((0, 1), (2.7, 8.31), (-3, 1e-3), (5, 5), (0, 0), (1e-9, 3e-9), (1, 2168)):
        ticks = _axis(low, high)
        assert ticks[0] <= low <= high <= ticks[-1]
        assert 2 <= len(ticks) <= 8
        steps = {round((b - a) / (ticks[-1] - ticks[0]), 9) for a, b in pairwise(ticks)}
        assert len(steps) == 1
    assert _axis(1, 2, least=1) == [1, 2]  # steps have no halves
    with pytest.raises(ValueError, match="no point to draw"):
        svg_curves("loss", [Curve("train", [(1, math.inf)])])
