"""Which engine translates: the option for it, the folder that it reads, and how it is loaded."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mt.config import Config
    from mt.decoding.engine import Engine
    from mt.storage.export_record import ExportRecord
    from mt.storage.model_folder import ModelFolder
    from mt.text.tokenizer import Tokenizer

ENGINES = ("torch", "ctranslate2", "onnx")


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what the model runs on."""
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        help="what the model runs on; for ctranslate2 and onnx, `mt export` it first (default: "
        "what the folder is for)",
    )
    parser.add_argument(
        "--device", default="auto", help="auto, cpu, cuda, cuda:N or mps (default: auto)"
    )


def find_engine(arguments: argparse.Namespace) -> tuple[str, ModelFolder]:
    """The engine, and the folder of the model for it. Raises UserError when there is none."""
    from mt.errors import UserError
    from mt.storage.export_record import read_record
    from mt.storage.model_folder import ModelFolder, find_model

    folder = find_model(arguments.model)
    record = read_record(folder.path)
    engine = arguments.engine or (record.format if record else "torch")
    if record and engine != record.format:
        raise UserError(
            f"{folder.path.absolute()} is an export for {record.format}, not for --engine {engine}"
        )
    if engine not in ENGINES:
        raise UserError(
            f"{folder.path.absolute()} is an export for {engine}, which `mt` does not run; give "
            "the model that it is of"
        )
    if checkpoint := getattr(arguments, "checkpoint", None):
        if engine != "torch":
            raise UserError(f"--checkpoint is for --engine torch: an export for {engine} has one")
        folder.choose(checkpoint)
    if record or engine == "torch":
        return engine, folder
    exported = ModelFolder(folder.path / engine)
    found = read_record(exported.path)
    if found is None or found.format != engine:
        raise UserError(
            f"no export for --engine {engine} in {exported.path.absolute()}; make one first: "
            f"mt export --format {engine} --model {folder.path}"
        )
    return engine, exported


def load_engine(
    engine: str, folder: ModelFolder, config: Config, src: Tokenizer, tgt: Tokenizer, device: str
) -> Engine:
    """The engine with the model in its folder. Raises UserError."""
    from mt.errors import UserError, require
    from mt.storage.export_record import read_record

    if not _is_device(device):
        raise UserError(f"--device {device}: expected auto, cpu, cuda, cuda:N or mps")
    if record := read_record(folder.path):
        _tell_if_old(folder, record)
        folder.check_tokenizers(
            {"tokenizers": record.tokenizers}, Path(record.checkpoint), src, tgt
        )
    if engine == "ctranslate2":
        require("ctranslate2", "export")
        from mt.decoding.ctranslate2_engine import CTranslate2Engine

        return CTranslate2Engine(folder, src, tgt, device)
    if engine == "onnx":
        require("onnxruntime", "export")
        from mt.decoding.onnx_engine import OnnxEngine

        return OnnxEngine(folder, device)
    from mt.decoding.torch_engine import TorchEngine
    from mt.model.device import resolve_device

    return TorchEngine.load(folder, config, src, tgt, resolve_device(device))


def _tell_if_old(exported: ModelFolder, record: ExportRecord) -> None:
    """Warns when training has found better weights since."""
    from mt.cli.report import log
    from mt.storage.model_folder import ModelFolder

    best = ModelFolder(exported.path.parent).pointer("best")
    if best and best.name != record.checkpoint:
        log.warning(
            "%s is of %s, and the best is %s now; `mt export` again for that",
            exported.path, record.checkpoint, best.name,
        )  # fmt: skip


def _is_device(name: str) -> bool:
    kind, colon, index = name.partition(":")
    return kind in ("auto", "cpu", "cuda", "mps") and (not colon or index.isdecimal())
