"""Attention as an image: what is in the cells, labels that keep apart, fonts that lack letters."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from mt.decoding.attention import AttentionMaps
from mt.pictures.fonts import Fonts, font_files
from mt.pictures.heatmap import CELLS, DARK, LARGEST, heads_picture, mean_picture
from mt.pictures.page import attention_page

FILES = font_files()
needs_fonts = pytest.mark.skipif(not FILES, reason="no fonts here")


def maps(
    layers: int = 2, heads: int = 4, tgt: int = 5, src: int = 7, token: str = "w"
) -> AttentionMaps:
    chance = np.random.default_rng(layers + src)
    weights = chance.dirichlet(np.full(src, 0.2), size=(layers, heads, tgt)).astype(np.float32)
    return AttentionMaps(weights, [token] * src, [token] * tgt)


def cells(image: Image.Image, origin: tuple[int, int], cell: int, shape: tuple[int, int]) -> object:
    """(T, S) weights over the largest, as the red of the middle of each cell tells."""
    red = np.asarray(image)[..., 0].astype(float)
    rows, columns = (
        [at + cell * i + cell // 2 for i in range(n)]
        for at, n in zip(origin[::-1], shape, strict=True)
    )
    return (255 - red[np.ix_(rows, columns)]) / (255 - DARK[0])


def corners(image: Image.Image) -> tuple[int, int]:
    """Left and top of the first map: where the first frame begins."""
    frame = np.all(np.asarray(image) == (150, 158, 170), axis=-1)
    y, x = np.argwhere(frame)[0]
    return int(x) + 1, int(y) + 1


def test_the_cells_of_the_mean_are_the_weights() -> None:
    chosen = maps()
    image = mean_picture(chosen).image
    seen = cells(image, corners(image), CELLS["mean"], (5, 7))
    assert seen == pytest.approx(chosen.mean / chosen.mean.max(), abs=0.01)


def test_the_grid_has_a_map_for_each_layer_and_head_in_order() -> None:
    chosen = maps()
    image = heads_picture(chosen).image
    frame = np.all(np.asarray(image) == (150, 158, 170), axis=-1)
    tops = np.flatnonzero(frame.sum(axis=1) > 4 * 7 * CELLS["heads"])[::2] + 1
    lefts = np.flatnonzero(frame.sum(axis=0) > 2 * 5 * CELLS["heads"])[::2] + 1
    assert (len(tops), len(lefts)) == (2, 4)
    for i, top in enumerate(tops):
        for j, left in enumerate(lefts):
            seen = cells(image, (int(left), int(top)), CELLS["heads"], (5, 7))
            expected = chosen.weights[i, j] / chosen.weights.max()
            assert seen == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("token", ["w", "an-extremely-long-word" * 9, "▁été"])
def test_labels_stay_beside_the_map(token: str) -> None:
    """However long a token is, it is cut, and no label runs into the next one or the cells."""
    image = mean_picture(maps(token=token)).image
    left, top = corners(image)
    assert left < 260
    assert top < 260
    dark = np.asarray(image)[..., :].max(axis=-1) < 140
    beside = dark[top : top + 5 * CELLS["mean"], : left - 1].any(axis=1)
    gaps = [beside[i * CELLS["mean"]] for i in range(5)]  # the edge between two labels
    assert not any(gaps)
    assert not dark[top : top + 5 * CELLS["mean"], left - 3 : left - 1].any()
    assert beside.any()


def test_a_long_sentence_has_small_cells_and_no_labels() -> None:
    image = heads_picture(maps(6, 8, 120, 130)).image
    assert max(image.size) < LARGEST + 1000
    image = mean_picture(maps(1, 1, 250, 250)).image
    assert max(image.size) < LARGEST + 400
    assert mean_picture(maps(1, 1, 700, 700, "漢")).complaint is None  # what is not drawn


def test_what_no_font_can_draw_is_told() -> None:
    picture = mean_picture(maps(token="\U0001f9ff漢"), files=[])
    assert picture.undrawable == ["\U0001f9ff漢"]
    assert picture.complaint == (
        "no font here has all letters of: \U0001f9ff漢; they are boxes in the picture"
    )
    assert mean_picture(maps(), files=[]).complaint is None


@needs_fonts
@pytest.mark.parametrize("text", ["perché è così", "Straße", "перевод", "γλώσσα", "▁…", "[EOS]"])
def test_accents_and_other_alphabets_are_drawn(text: str) -> None:
    fonts = Fonts(14)
    one, other = (bytes(fonts.font(text).getmask(part)) for part in (text, text[::-1]))
    assert not fonts.undrawable
    assert one != other


def test_a_file_that_is_no_font_is_passed_over(tmp_path: object) -> None:
    from pathlib import Path

    bad = Path(str(tmp_path)) / "bad.ttf"
    bad.write_bytes(b"not a font")
    assert Fonts(14, [bad]).font("abc").getname()[0]


def test_a_page_holds_every_map(tmp_path: object) -> None:
    import base64
    import re

    chosen = maps(3, 2)
    text = attention_page(chosen, "source", "translation")
    found = re.search(r'id="weights">([^<]+)<', text)
    assert found
    weights = np.frombuffer(base64.b64decode(found[1]), np.uint8).reshape(7, 5, 7) / 255
    assert weights[0] == pytest.approx(chosen.mean, abs=0.003)
    assert weights[1:] == pytest.approx(chosen.weights.reshape(6, 5, 7), abs=0.003)
    assert "layer 3, head 2" in text
