"""Text between tags is found, and nothing else of a document changes."""

from __future__ import annotations

from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt.serving.document import HTML, Document, Passage
from mt.serving.html_text import as_markup, readable, runs


def texts(html: str) -> list[str]:
    return [run for run, is_text in runs(html) if is_text]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("just text", ["just text"]),
        ("<p>One.</p>\n<P>Two &amp; three.</P >", ["One.", "\n", "Two &amp; three."]),
        ('<a title="a > b">in</a>', ["in"]),
        ("a<br>b<br/>c", ["a", "b", "c"]),
        ("<script>if (a < b) x();</script>out", ["out"]),
        ("<style>p > a {}</style><!-- not --><?pi?><!doctype html>out", ["out"]),
        ("<p translate=no>no <b>nor this</b></p>yes", ["yes"]),
        ("<p translate='no'><br><img>no</p>yes", ["yes"]),
        ("<code>x = 1</code> is code", [" is code"]),
        ("a &lt; b &#233; &nosuch; & c", ["a &lt; b &#233; &nosuch; & c"]),
        ("1 < 2 and 3 > 2", ["1 < 2 and 3 > 2"]),
        ("</p>stray", ["stray"]),
        ("", []),
    ],
)
def test_what_is_text(html: str, expected: list[str]) -> None:
    assert texts(html) == expected


FRAGMENTS = st.lists(
    st.sampled_from(
        ["<p>", "</p>", "<b class='x'>", "</b>", "<script>", "</script>", "<!--", "-->", "<", ">",
         "&", "&amp;", "&#x27;", "<![CDATA[", "<![", "<![if", "]]>", "<?", "<!", "</", "\n",
         "\r\n", "word", " ",
         '"', "'", "<a href=\"", "=", "translate=no", "é", "\u2028", "<br/>", "<code>", "</code>"]
    ),
    max_size=25,
)  # fmt: skip


@given(FRAGMENTS)
def test_the_pieces_of_anything_make_it_up_again(fragments: list[str]) -> None:
    html = "".join(fragments)
    assert "".join(run for run, _ in runs(html)) == html
    assert not any("<p>" in run or "<b " in run for run in texts(html))
    document = Document.of(html, HTML)
    kept = [p.before + p.after if isinstance(p, Passage) else p for p in document.pieces]
    assert document.put_together([""] * len(document.sentences), " ") == "".join(kept)


@given(st.text())
def test_any_text_can_stand_between_tags(text: str) -> None:
    assert unescape(as_markup(text)) == unescape(readable(as_markup(text)))
    assert "<" not in as_markup(text)
    assert texts(f"<p>{as_markup('1 & ' + text)}</p>")[0] == as_markup("1 & " + text)
