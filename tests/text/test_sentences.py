"""Sentences and parts: where they end, where they do not, and that nothing is lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.text.cleaning import normalize
from mt.text.sentences import fit, sentences, space_between


@pytest.mark.parametrize(
    "marked",
    [
        "He came.| She went!| Why?| Nobody knows",
        "Mr. Smith met Mrs. Jones and Dr. Who in St. Ives.| They left.",
        "Il Sig. Rossi e la Dott. Bianchi parlano.| Il prof. Verdi tace.",
        "Mele, pere, ecc. sono qui.| Libri, ecc.| Il resto dopo.",
        "Use fruit, e.g. Apples, i.e. Those.| Good.",
        "J. R. R. Tolkien and U.S. Grant met.| So did I.| Then it ended.",
        "It costs 3.14 or 1,000.50 euros.| Version 2.0 is out.",
        "See p. 5, fig. 3 and no. 7.| He said no.| It is art.| Yes.",
        "1. Introduction to it.| 2. The end.",
        "IV. The fourth chapter.| It is short.",
        "Well... maybe so.| But…| He left.",
        "“Go!” he said.| “Why?”| “Because.”| (It was late.)| [Later.]| Then",
        '"Really?" she asked.| "Yes."| He nodded.',
        "¿Qué pasa?| ¡Nada!| Bueno.| «¿Sí?»| Claro.",
        "What?!| No...!| Oh!!!| Ah.",
        "彼は来た。| 本当？| はい！| 「行く。」と言った。| 終わり",
        "你好。| “我们走吧！”| 他说。| 好",
        "यह है।| वह है।| कौन",
        "كيف حالك؟| جيد.| نعم",
        "Привет.| Как дела?| Хорошо",
        "z.B. das Haus.| Das ist gut.",
        "a. b. c",
        "...",
        "?",
    ],
)  # fmt: skip
def test_sentences_end_where_people_end_them(marked: str) -> None:
    assert sentences(marked.replace("|", "")) == [piece.strip() for piece in marked.split("|")]


@pytest.mark.parametrize(
    "marked", ["彼は来た。|本当？|「行く。」と言った。|終わり", "好。|“走吧！”|他说。"]
)
def test_some_scripts_have_no_spaces(marked: str) -> None:
    assert sentences(marked.replace("|", "")) == marked.split("|")


def test_blank_text_has_no_sentences() -> None:
    assert sentences("") == sentences("  ") == []
    assert fit("", 3, len) == fit(" ", 3, len) == []


def words(text: str) -> int:
    """Words, and each mark by itself, as a word-level tokenizer counts."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def letters(text: str) -> int:
    return len(text.replace(" ", ""))


def pairs(text: str) -> int:
    """Tokens of up to two letters, words apart: less than one a letter, as subwords are."""
    return sum((len(word) + 1) // 2 for word in text.split())


@pytest.mark.parametrize(
    ("text", "limit", "parts"),
    [
        ("one two three. four five six.", 4, ["one two three.", "four five six."]),
        ("one two, three four, five", 4, ["one two,", "three four, five"]),
        ("a b c d e f g h i j k l m", 5, ["a b c d e", "f g h i j", "k l m"]),
        ("a b c d e f", 5, ["a b c", "d e f"]),  # of about one length
        ("...............", 4, ["....", "....", "....", "..."]),
        ("short", 4, ["short"]),
        ("a.b.c.d", 2, ["a.", "b.", "c.", "d"]),
    ],
)
def test_parts_end_at_the_best_place_there_is(text: str, limit: int, parts: list[str]) -> None:
    assert fit(text, limit, words) == parts


def test_a_word_that_is_too_long_is_cut_where_the_last_token_that_fits_ends() -> None:
    assert fit("abcdefghij", 2, pairs) == ["abcd", "efgh", "ij"]
    assert fit("彼は来た彼は来た", 3, letters) == ["彼は来", "た彼は", "来た"]


@pytest.mark.parametrize("count", [words, letters, pairs])
@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(["a", "Bb", "ccc", ".", " ", " ", "! ", "? ", ", ", "— ", "Mr. ", "。",
                         "”", "(", "é", "漢字", "3.5", "...", "x" * 30])
        | st.text(max_size=6),
        max_size=40,
    ),
    st.integers(1, 9),
)  # fmt: skip
def test_parts_are_the_text_and_each_is_within_the_limit(
    count: object, pieces: list[str], limit: int
) -> None:
    assert callable(count)
    text = normalize("".join(pieces))
    parts = fit(text, limit, count)
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")
    assert all(count(part) <= limit for part in parts)
    assert all(part and part == part.strip() for part in parts)
    assert "".join(sentences(text)).replace(" ", "") == text.replace(" ", "")


def test_a_text_as_long_as_a_book_takes_a_moment() -> None:
    calls = 0

    def count(text: str) -> int:
        nonlocal calls
        calls += len(text)
        return letters(text)

    for text in ("word " * 20_000, "x" * 100_000, "One two three. " * 7_000):
        calls = 0
        fit(text, 100, count)
        assert calls < 20 * len(text)  # letters that were counted


def test_what_stands_between_sentences() -> None:
    assert [space_between(code) for code in ("it", "zh", "ja", "zh_Hans", "th", "pt-BR", "ko")] == [
        " ", "", "", "", "", " ", " ",
    ]  # fmt: skip
