"""From a model folder to a folder for another engine, with all that translating with it needs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from mt.config import Config
from mt.errors import UserError, require
from mt.export.parts import Parts, parts_of
from mt.model.build import build_model
from mt.model.weights import load_weights
from mt.storage import atomic
from mt.storage.export_record import FILE, ExportRecord, Format, config_mark
from mt.storage.model_folder import ModelFolder
from mt.text.tokenizer import Tokenizer


def export(
    folder: ModelFolder, format: Format, output: Path | None = None, quantization: str = "float32"
) -> ModelFolder:
    """Writes the weights that `mt translate` would use to `output`, and returns that folder.

    The default is a folder named after the format inside the model's. An older export there is
    replaced; anything else is left alone, as UserError says. Raises UserError also for what the
    format has not.
    """
    if format != "transformers":  # its files are written without it
        require(format, "export")
    check_quantization(format, quantization)
    target = output or folder.path / format
    check_place(target)
    config = folder.read_config()
    src, tgt = folder.tokenizers(config)
    weights, checkpoint = folder.weights(src, tgt)
    model = build_model(config.model, src.vocab_size, tgt.vocab_size, init=False)
    load_weights(model, weights)
    parts = parts_of(model.eval(), config)
    with atomic.output_folder(target) as building:
        _write(format, parts, (src, tgt), building, quantization)
        made_with = folder.tokenizer_state(src, tgt)
        said = _said(folder, config)
        ExportRecord(format, quantization, checkpoint.name, made_with, said).write(building)
        _carry(folder, config, building)
    return ModelFolder(target)


def check_quantization(format: Format, quantization: str) -> None:
    """Raises UserError unless the format has numbers of this kind."""
    known: tuple[str, ...] = ("float32",)
    if format == "ctranslate2":
        from mt.export.to_ctranslate2 import QUANTIZATIONS

        known = QUANTIZATIONS
    if quantization not in known:
        raise UserError(f"--quantization {quantization}: --format {format} has {', '.join(known)}")


def check_place(target: Path) -> None:
    """Raises UserError when something that is not an export has the name."""
    there = target.is_file() or (target.is_dir() and any(target.iterdir()))
    if there and not (target / FILE).exists():  # an export may be replaced, damaged or not
        raise UserError(
            f"{target.absolute()} is in the way and is no export; give another --output"
        )


def _write(
    format: Format,
    parts: Parts,
    tokenizers: tuple[Tokenizer, Tokenizer],
    folder: Path,
    quantization: str,
) -> None:
    if format == "ctranslate2":
        from mt.export.to_ctranslate2 import write_ctranslate2

        write_ctranslate2(parts, *tokenizers, folder, quantization)
    elif format == "onnx":
        from mt.export.to_onnx import write_onnx

        write_onnx(parts, *tokenizers, folder)
    else:
        from mt.export.to_transformers import write_transformers

        src, tgt = tokenizers
        write_transformers(parts, folder, (src.language, tgt.language))


def _said(folder: ModelFolder, config: Config) -> dict[str, Any]:
    """What the record has of the config, so that an engine need not read it."""
    data = config.data.model_dump(include={"src", "tgt", "max_length"})
    whole = {"model": config.model.model_dump(), "decoding": config.decoding.model_dump()}
    return {"mark": config_mark(folder.config_file), "data": data, **whole}


def _carry(folder: ModelFolder, config: Config, building: Path) -> None:
    """Copies what belongs to the model whatever its engine; the config last."""
    files = [folder.tokenizer_file(language) for language in (config.data.src, config.data.tgt)]
    for file in (*files, folder.data_file, folder.config_file):
        if file.exists():
            shutil.copyfile(file, building / file.name)
