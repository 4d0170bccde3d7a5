"""A text is cut into sentences, and put together around them as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.serving.document import HTML, TEXT, Document
from mt.text.cleaning import normalize


def test_lines_and_the_white_space_around_them_stay() -> None:
    text = "  One. Two.\r\n\r\n\t- three\n\n"
    document = Document.of(text)
    assert document.sentences == ["One.", "Two.", "- three"]
    assert document.put_together(["A.", "B.", "c"], " ") == "  A. B.\r\n\r\n\tc\n\n"


def test_html_is_read_as_text_and_written_as_html() -> None:
    document = Document.of("<p> Tom &amp; &quot;Jerry&quot;.\n Go! </p>", HTML)
    assert document.sentences == ['Tom & "Jerry".', "Go!"]
    assert document.put_together(["A < B.", "Via!"], " ") == "<p> A &lt; B. Via! </p>"


def test_a_line_may_be_left_whole_and_a_sentence_may_be_empty() -> None:
    assert Document.of("One. Two.", whole=True).sentences == ["One. Two."]
    assert Document.of("One. Two. Three.").put_together(["A", "", "C"], " ") == "A C"
    assert Document.of("一。二。").put_together(["A", "B"], "") == "AB"


@pytest.mark.parametrize("form", [TEXT, HTML])
@given(text=st.text(alphabet=" \n\r\t.a!B<>&;\u2028\u00a0\ufeff\x00é", max_size=40))
def test_all_words_are_translated_and_nothing_is_lost(form: str, text: str) -> None:
    document = Document.of(text, form)
    for passage in document.passages:
        assert " ".join(passage.sentences).split() == passage.normal.split()
        assert normalize(passage.text) == passage.normal
    if form == TEXT:
        together = document.put_together(document.sentences, " ")
        assert normalize(together) == normalize(text)
