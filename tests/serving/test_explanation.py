"""The pieces of source and translation make them up, and words point at the right words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.decoding.translator import Translation
from mt.serving.detection import detect, fit
from mt.serving.document import Document
from mt.serving.explanation import explain
from mt.serving.languages import language_name
from mt.serving.models import ServedModel, Translating
from tests.conftest import SENTENCES, toy_pairs

CAT = "the cat sleeps today."


def explained(toy: ServedModel, text: str, alternatives: int = 0) -> dict[str, Any]:
    document = Document.of(text)
    found = Translating(toy, alternatives, align=True).do(document.sentences)
    answer = explain(document, found, toy)
    assert "".join(piece["text"] for piece in answer["source"]) == text
    best = [one["alternatives"][0]["text"] for one in answer["sentences"]]
    befores = [one["before"] for one in answer["sentences"]]
    together = document.put_together([one.text for one in found], toy.space)
    assert "".join(b + t for b, t in zip(befores, best, strict=True)) + answer["after"] == together
    return answer


def test_words_are_those_that_align(toy: ServedModel) -> None:
    answer = explained(toy, f"{CAT}  The  zyx sings.\n yes.\n")
    words = [(p["text"], p["sentence"], p["word"]) for p in answer["source"] if "word" in p]
    assert words == [
        ("the", 0, 0), ("cat", 0, 1), ("sleeps", 0, 2), ("today.", 0, 3),
        ("The", 1, 0), ("zyx", 1, 1), ("sings.", 1, 2), ("yes.", 2, 0),
    ]  # fmt: skip
    # No capital is in its vocabulary, so it does not know The either.
    assert [p["text"] for p in answer["source"] if p.get("unknown")] == ["The", "zyx"]
    cat, zyx, yes = answer["sentences"]
    best = cat["alternatives"][0]
    assert best["text"] == SENTENCES[CAT]
    assert len(best["text"].split()) == 4
    assert all(0 <= i < 4 and 0 <= j < 4 for i, j in best["words"])
    assert {j for _, j in best["words"]} == {0, 1, 2, 3}
    assert len(best["tokens"]) == len(best["alignment"])
    assert zyx["unknown"] == ["The", "zyx"]
    assert (yes["before"], answer["after"]) == ("\n ", "\n")


def test_alternatives_differ_and_do_not_change_the_best(toy: ServedModel) -> None:
    [alone] = Translating(toy).do([CAT])
    [several] = Translating(toy, alternatives=4).do([CAT])
    texts = [alternative.text for alternative in several.alternatives]
    assert texts[0] == alone.text == SENTENCES[CAT]
    assert len(set(texts)) == len(texts) == 5
    assert len(alone.alternatives) == 1


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.sampled_from(["the cat", " ", "\n", ". ", "X", "&amp;", "\u200b", "\x07", "一。"]))
)
def test_any_text_is_made_up_of_its_pieces(toy: ServedModel, parts: list[str]) -> None:
    explained(toy, "".join(parts))


def test_words_that_the_model_cannot_say_are_marked(toy: ServedModel) -> None:
    found = Translating(toy, align=True).do(["the dog eats here."])
    assert isinstance(found[0], Translation)
    hypothesis = found[0].alternatives[0].hypothesis
    hypothesis.ids[1] = 0  # as if it had no word for it
    found[0].alternatives[0].text = "il dog mangia qui."
    found[0].alternatives[0].copied = ["dog"]
    answer = explain(Document.of("the dog eats here."), found, toy)
    assert answer["sentences"][0]["alternatives"][0]["marked"] == [1]
    assert answer["sentences"][0]["alternatives"][0]["copied"] == ["dog"]


def test_the_language_is_the_one_whose_vocabulary_fits(toy: ServedModel) -> None:
    known = {"en": toy.translator.src, "it": toy.translator.tgt}
    for english, italian in toy_pairs(20):
        assert [language for language, _ in detect(known, english)] == ["en", "it"]
        assert detect(known, italian)[0][0] == "it"
        assert detect(known, english)[0][1] == 1.0
    assert fit(toy.translator.src, "the xxx") == 0.5
    assert fit(toy.translator.src, "") == fit(toy.translator.src, "123 .") == 0.0


@pytest.mark.parametrize(
    ("code", "name"),
    [("it", "Italian"), ("nb", "Norwegian Bokmål"), ("pt-BR", "Portuguese (BR)"), ("tlh", "tlh")],
)
def test_names_of_languages(code: str, name: str) -> None:
    assert language_name(code) == name
