"""The exported folder: what is in it, where it goes, and what it never overwrites."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mt.config import Config
from mt.errors import UserError
from mt.export import to_onnx
from mt.export.export import export
from mt.storage.export_record import FILE, FORMATS, ExportRecord, read_record
from mt.storage.model_folder import ModelFolder
from tests.random_models import random_model

CARRIED = {"config.yaml", "data.json", "tokenizer_en.json", "tokenizer_it.json", FILE}
SHAPE = "torch_builtin"  # which all formats have


@pytest.fixture
def folder(tmp_path: Path) -> ModelFolder:
    return random_model(tmp_path / "model", SHAPE)


@pytest.mark.parametrize("kind", FORMATS)
def test_it_is_in_the_model_folder_and_has_all_that_the_model_has(
    folder: ModelFolder, kind: str
) -> None:
    exported = export(folder, kind)
    assert exported.path == folder.path / kind
    assert {path.name for path in exported.path.iterdir()} > CARRIED
    assert exported.read_config() == folder.read_config()
    made_with = folder.tokenizer_state(*folder.tokenizers(folder.read_config()))
    record = read_record(exported.path)
    assert record is not None
    assert replace(record, config={}) == ExportRecord(kind, "float32", "step-00000001", made_with)
    assert {path.name for path in folder.path.iterdir()} == (CARRIED - {FILE}) | {
        "checkpoints",
        kind,
    }


def test_an_older_export_is_replaced(folder: ModelFolder, tmp_path: Path) -> None:
    target = tmp_path / "out"
    export(folder, "onnx", target)
    export(folder, "ctranslate2", target)
    record = read_record(target)
    assert record is not None
    assert record.format == "ctranslate2"
    assert not (target / "encoder.onnx").exists()


@pytest.mark.parametrize("other", ["a file", "a folder", "the model", "a folder of another user"])
def test_anything_else_in_the_way_is_left_alone(
    folder: ModelFolder, tmp_path: Path, other: str
) -> None:
    target = tmp_path / "out"
    if other == "a file":
        target.write_text("mine", "utf-8")
    elif other == "the model":
        target = folder.path
    else:
        target.mkdir()
        (target / "notes.txt").write_text("mine", "utf-8")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match="is in the way and is no export; give another --output"):
        export(folder, "ctranslate2", target)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_damaged_export_is_replaced(folder: ModelFolder) -> None:
    exported = export(folder, "onnx")
    (exported.path / FILE).write_text("{", "utf-8")
    assert read_record(export(folder, "onnx").path) is not None


def test_an_empty_folder_is_filled(folder: ModelFolder, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    export(folder, "ctranslate2", tmp_path / "out")
    assert (tmp_path / "out" / "model.bin").exists()


def test_a_failure_leaves_what_was_there(
    folder: ModelFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported = export(folder, "onnx")
    before = {path: path.read_bytes() for path in exported.path.iterdir()}

    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(to_onnx._Decoder, "save", fail)
    with pytest.raises(OSError, match="no space left"):
        export(folder, "onnx")
    assert {path: path.read_bytes() for path in exported.path.iterdir()} == before
    assert not list(folder.path.glob(".*"))


def test_what_a_killed_process_left_behind_is_no_hindrance(folder: ModelFolder) -> None:
    for name in (".onnx.tmp", ".onnx.old"):
        (folder.path / name).mkdir()
        (folder.path / name / "weights.bin").write_text("half", "utf-8")
    export(folder, "onnx")
    assert not list(folder.path.glob(".*"))


@pytest.mark.parametrize(
    ("kind", "quantization", "known"),
    [("ctranslate2", "int4", "float32.*int8"), ("onnx", "int8", "float32"),
     ("transformers", "float16", "float32")],
)  # fmt: skip
def test_a_quantization_that_the_format_has_not(
    folder: ModelFolder, kind: str, quantization: str, known: str
) -> None:
    with pytest.raises(
        UserError, match=f"--quantization {quantization}: --format {kind} .*{known}"
    ):
        export(folder, kind, quantization=quantization)
    assert not (folder.path / kind).exists()


def test_an_export_is_no_model(folder: ModelFolder, tmp_path: Path) -> None:
    exported = export(folder, "ctranslate2")
    with pytest.raises(UserError, match="is an export; give the model that it is of"):
        export(exported, "onnx", tmp_path / "out")


@pytest.mark.parametrize("library", ["ctranslate2", "onnx"])
def test_a_library_that_is_not_there(
    folder: ModelFolder, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UserError, match=rf'{library} is not installed.*pip install "mt\[export\]"'):
        export(folder, library)


def test_damaged_weights_are_passed_over(folder: ModelFolder, tmp_path: Path) -> None:
    shutil.copytree(folder.checkpoints / "step-00000001", folder.checkpoints / "step-00000002")
    (folder.checkpoints / "step-00000002" / "model.safetensors").write_bytes(b"")
    exported = export(folder, "ctranslate2")
    record = read_record(exported.path)
    assert record is not None
    assert record.checkpoint == "step-00000001"


@pytest.mark.parametrize("content", ["{", "[]", '{"format": "onnx"}', "3"])
def test_a_damaged_record_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content, "utf-8")
    with pytest.raises(UserError, match=r"export\.json is damaged"):
        read_record(tmp_path)


def test_a_format_of_a_later_version_is_told(tmp_path: Path) -> None:
    ExportRecord("gguf", "int4", "step-00000001", {}).write(tmp_path)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"export.json: unknown format gguf"):
        read_record(tmp_path)


def test_what_the_config_says_is_ready_until_the_file_is_another(folder: ModelFolder) -> None:
    exported = export(folder, "onnx")
    whole, ready = exported.read_config(), exported.settings()
    assert not isinstance(ready, Config)
    assert vars(ready.decoding) == whole.decoding.model_dump()
    assert (ready.data.src, ready.data.tgt) == (whole.data.src, whole.data.tgt)
    assert ready.data.max_length == whole.data.max_length
    text = exported.config_file.read_text("utf-8")
    exported.config_file.write_text(text.replace("beam_size: 1", "beam_size: 3"), "utf-8")
    assert exported.settings().decoding.beam_size == 3
    exported.config_file.write_text(f"{text}\nnonsense: 1\n", "utf-8")
    with pytest.raises(UserError, match="nonsense is not a key"):
        exported.settings()
