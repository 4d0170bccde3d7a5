"""`mt translate --attention`: where the model looked, drawn into an image or a page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mt.cli.output_path import output_path

if TYPE_CHECKING:
    from mt.decoding.translator import Translation, Translator

KINDS = (".png", ".html")


def add_attention_options(parser: argparse.ArgumentParser) -> None:
    """The options that have attention drawn."""
    group = parser.add_argument_group("attention")
    group.add_argument(
        "--attention",
        metavar="FILE",
        help="draw where the model looked for one sentence: a .png, or an .html page with a map "
        "of each layer and head beside the mean",
    )
    group.add_argument(
        "--attention-heads",
        action="store_true",
        help="in a .png, a small map of each layer and head instead of the mean",
    )


def check_attention_options(arguments: argparse.Namespace) -> None:
    """Raises UserError unless there is one sentence to draw, and a file to draw it into."""
    from mt.errors import UserError

    if not arguments.attention:
        if arguments.attention_heads:
            raise UserError("--attention-heads needs --attention FILE.png")
        return
    file = Path(arguments.attention)
    if file.suffix.lower() not in KINDS:
        raise UserError(f"--attention {file}: the name must end in {' or '.join(KINDS)}")
    if arguments.attention_heads and file.suffix.lower() != ".png":
        raise UserError(f"--attention-heads is for a .png; {file} has all heads already")
    if len(arguments.sentences) != 1 or not arguments.sentences[0].strip():
        count = len(arguments.sentences)
        given = f"one sentence, and {count} are given" if count > 1 else "one sentence"
        raise UserError(f"--attention draws {given}: give one on the command line")
    output_path("--attention", arguments.attention)


def draw_attention(
    arguments: argparse.Namespace, translator: Translator, translation: Translation
) -> None:
    """Draws the attention of a translation into the file that the options name."""
    from mt.cli.report import log
    from mt.decoding.attention import attention_maps
    from mt.errors import UserError
    from mt.storage.atomic import output_file

    if not translation.alternatives:
        raise UserError("--attention: the sentence is blank, there is nothing to draw")
    if len(translation.parts) > 1:
        raise UserError(
            f"--attention: the sentence was translated in {len(translation.parts)} parts; give one "
            f"of them alone, as: {translation.parts[0]}"
        )
    maps = attention_maps(translator, translation)
    file = Path(arguments.attention)
    with output_file(file) as temporary:
        if file.suffix.lower() == ".html":
            from mt.pictures.page import attention_page

            page = attention_page(maps, translation.source, translation.text)
            temporary.write_text(page, encoding="utf-8", newline="\n")
            return
        from mt.pictures.heatmap import heads_picture, mean_picture

        picture = (heads_picture if arguments.attention_heads else mean_picture)(maps)
        picture.image.save(temporary, "PNG")
    if picture.complaint:
        log.warning("%s (an .html page uses the fonts of the browser)", picture.complaint)
