"""`mt export`, and translating and evaluating with what it wrote."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mt.export import to_ctranslate2
from tests.conftest import ROOT, SENTENCES, Result

Run = Callable[..., Result]
SENTENCE = "the cat sleeps today."
WITHOUT = """
import sys
for name in ("torch", "safetensors", "datasets", "pandas", "sacrebleu"):
    sys.modules[name] = None
from mt.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def translate(mt: Run, *options: str | Path) -> str:
    result = mt("translate", *options, SENTENCE)
    assert result.status == 0, result.err
    return result.out


@pytest.mark.parametrize("engine", ["ctranslate2", "onnx"])
def test_the_export_of_a_model_translates_as_the_model_does(
    trained: Path, mt: Run, engine: str
) -> None:
    result = mt("export", "--format", engine, "--model", "toy")
    assert (result.status, result.out) == (0, "")
    assert result.err == f"exported to weights/toy/{engine}, as float32\n"
    expected = SENTENCES[SENTENCE] + "\n"
    assert translate(mt, "--model", "toy") == expected
    assert translate(mt, "--model", "toy", "--engine", engine) == expected
    assert translate(mt, "--model", f"weights/toy/{engine}") == expected


@pytest.mark.parametrize("engine", ["ctranslate2", "onnx"])
def test_a_copied_export_needs_no_torch(
    trained: Path, tmp_path: Path, mt: Run, engine: str
) -> None:
    assert mt("export", "--format", engine, "--output", "out").status == 0
    shutil.move("out", "elsewhere")
    shutil.rmtree("weights")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", WITHOUT, "translate", "--model", "elsewhere", SENTENCE, "zebra"]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=60, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == SENTENCES[SENTENCE]
    assert done.stderr.startswith("unknown to the model: zebra\n")


def test_words_without_a_translation_are_copied(trained: Path, mt: Run) -> None:
    mt("export", "--format", "ctranslate2")
    for engine in ("torch", "ctranslate2"):
        banned = mt("translate", "--engine", engine, "--unknown", "ban", "zebra zebra.")
        marked = mt("translate", "--engine", engine, "--unknown", "mark", "zebra zebra.")
        assert banned.status == marked.status == 0
        assert "<unk>" not in banned.out


@pytest.mark.parametrize("quantization", ["float32", "int8"])
def test_the_check_compares_the_valid_split(trained: Path, mt: Run, quantization: str) -> None:
    result = mt("export", "--format", "ctranslate2", "--quantization", quantization, "--check")
    assert result.status == 0, result.err
    title, identical, before, after = result.out.splitlines()
    assert title == "weights/toy/ctranslate2, valid, 14 sentences, greedy search"
    assert identical == "identical 100.00%"
    for line, word in ((before, "before"), (after, "after")):
        assert line.startswith(f"{word:9} BLEU ")
        assert "|tok:13a|" in line


def test_a_check_that_fails(trained: Path, mt: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(to_ctranslate2, "LAYER_NORM_EPSILON", 50.0)
    result = mt("export", "--format", "ctranslate2", "--check")
    assert result.status == 1
    assert "14 translations 0.00% are identical, and 99.50% are wanted" in result.err
    assert mt("export", "--format", "ctranslate2", "--check", "--least-identical", "0").status == 0
    result = mt("export", "--format", "ctranslate2", "--quantization", "int8", "--check")
    assert result.status == 1
    assert "BLEU are lost, and 0.3 may be" in result.err


def test_an_evaluation_is_of_the_engine_that_was_named(trained: Path, mt: Run) -> None:
    mt("export", "--format", "ctranslate2")
    torch_result = mt("evaluate")
    result = mt("evaluate", "--engine", "ctranslate2")
    assert result.status == 0, result.err
    assert result.out.splitlines()[0].startswith("weights/toy/ctranslate2, test, ")
    same = [
        [line for line in found.out.splitlines()[1:] if not line.startswith("speed")]
        for found in (result, torch_result)
    ]
    assert same[0] == same[1]
    assert Path("weights/toy/ctranslate2/evaluation/test/scores.json").exists()


def test_an_export_that_is_older_than_the_model_is_told(trained: Path, mt: Run) -> None:
    mt("export", "--format", "ctranslate2")
    best, other = sorted(Path("weights/toy/checkpoints").iterdir())[::-1]
    Path("weights/toy/best").write_text(other.name, "utf-8")
    told = f"weights/toy/ctranslate2 is of {best.name}, and the best is {other.name} now"
    for command in (["translate", SENTENCE], ["evaluate"]):
        result = mt(*command, "--engine", "ctranslate2")
        assert result.status == 0
        assert result.err.count(told) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "ctranslat"], "invalid choice: 'ctranslat'"),
        ([], "the following arguments are required: --format"),
        (["--format", "onnx", "--quantization", "int8"], "--quantization int8: --format onnx has"),
        (["--format", "onnx", "--model", "nobody"], "no model nobody"),
        (["--format", "onnx", "--output", "pairs.jsonl"], "is in the way and is no export"),
        (["--format", "transformers"], "the model has model.norm pre"),
        (["--format", "transformers", "--check"], "--check needs an engine that `mt` runs"),
        (["--format", "onnx", "--least-identical", "1"], "--least-identical is for --check"),
        (["--format", "onnx", "--check", "--least-identical", "99"], "a share from 0 to 1, not 99"),
        (["--format", "onnx", "--check", "--least-identical", "x"], "a share from 0 to 1, not x"),
    ],
)
def test_mistakes_of_export(trained: Path, mt: Run, options: list[str], message: str) -> None:
    before = sorted(Path().rglob("*"))
    result = mt("export", *options)
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize("command", ["translate", "evaluate"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "tensorrt"], "invalid choice: 'tensorrt'"),
        (["--engine", "onnx"], "no export for --engine onnx in"),
        (["--engine", "torch", "--model", "out"], "is an export for ctranslate2, not for"),
        (["--engine", "onnx", "--model", "out"], "is an export for ctranslate2, not for"),
        (["--model", "hf"], "is an export for transformers, which `mt` does not run"),
        (["--model", "out", "--device", "mps"], "CTranslate2 runs on cpu and cuda"),
        (["--model", "out", "--device", "gpu"], "--device gpu: expected auto, cpu"),
    ],
)
def test_mistakes_of_engines(
    trained: Path, mt: Run, command: str, options: list[str], message: str
) -> None:
    mt("export", "--format", "ctranslate2", "--output", "out")
    shutil.copytree("out", "hf")
    record = Path("hf/export.json")
    record.write_text(record.read_text("utf-8").replace("ctranslate2", "transformers"), "utf-8")
    result = mt(command, *options, *(["hello"] if command == "translate" else []))
    assert (result.status, result.out) == (2, "")
    assert message in result.err


def test_a_tokenizer_of_another_model_is_told(trained: Path, mt: Run) -> None:
    mt("export", "--format", "ctranslate2", "--output", "out")
    file = Path("out/tokenizer_en.json")
    file.write_text(file.read_text("utf-8").replace('"cat"', '"rat"'), "utf-8")
    result = mt("translate", "--model", "out", SENTENCE)
    assert result.status == 2
    assert "is not the tokenizer that checkpoint step-" in result.err


@pytest.mark.parametrize(
    ("engine", "library"), [("ctranslate2", "ctranslate2"), ("onnx", "onnxruntime")]
)
def test_an_engine_that_is_not_installed(
    trained: Path, mt: Run, monkeypatch: pytest.MonkeyPatch, engine: str, library: str
) -> None:
    mt("export", "--format", engine)
    monkeypatch.setitem(sys.modules, library, None)
    result = mt("translate", "--engine", engine, SENTENCE)
    assert result.status == 2
    assert f'{library} is not installed; get it with: pip install "mt[export]"' in result.err


def test_another_quantization_in_the_same_folder_says_what_it_replaces(
    trained: Path, mt: Run
) -> None:
    export = ("export", "--format", "ctranslate2")
    assert "it replaces" not in mt(*export).err
    assert "it replaces" not in mt(*export).err
    said = mt(*export, "--quantization", "int8").err
    assert said.endswith(
        "it replaces the one as float32; with --output DIR there is room for both\n"
    )
    beside = mt(*export, "--output", "weights/toy/other")
    assert (beside.status, "it replaces" in beside.err) == (0, False)
