"""Word tokens put back together: by language, by rule, and whatever comes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.config import TokenizerConfig
from mt.text.detokenizer import detokenize
from mt.text.tokenizer import Tokenizer

EVERY_WORD = TokenizerConfig(min_frequency=1, vocab_size=1_000_000)
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"

WRITTEN = {
    "it": [
        "L'uomo c'è dell'acqua, un po' di pane.",
        "E' vero: l'8 luglio e gli anni '80.",
        "Disse «sì» e poi «no».",
        "— Sì, disse.",
        "-Sì",
        "- Sì",
        "Costa 3,14 o 1.000 alle 10:30.",
        "Scrivi a a@b.it o http://www.b.it/x?y=1-2.",
        "50 % 50% 5€ $5 5 €",
        "Perché (no)? [x]",
        "Ciao, mondo!",
        "Aspetta... e poi…",
        "Un ex-marito e/o moglie",
        "'ciao' disse",
        "L'\"Uomo\" all'«Hotel» dell’“amore”",
        "de’ figliuoli d’Israele",
        "O'Brien e D'Artagnan",
        "Nel 1996-2004, l'Ile-de-France",
        "Che?! No!!!",
        "il 1° maggio a -40° e poi",
    ],
    "en": [
        "don't the dogs' bowls",
        "'quoted' and \"quoted\".",
        "He said, 'the dogs' bowls.'",
        "It's John's well-known 4-month-old dog's.",
        "rock'n'roll o'clock 'tis '90s",
        "I'd've gone — or not—well",
        "AT&T R&D a & b",
        "3.14 and 1,000 at 10:30 a.m. in the U.S.",
        "“Yes,” he said. “No.”",
        '"Yes," she said, "I know."',
        'She said: "\'Tis mine."',
        "'I can't,' he said.",
        "cats/dogs and / or 5 x 3 = 15",
        "user@mail.co.uk, www.x.com/a.",
        "Pre- and post-war",
        'and there was light."',
        'He said, "Let there be light.',
    ],
    "fr": [
        "« Bonjour ! » dit-il.",
        "L'homme n'a qu'une idée : aujourd'hui ?",
        "Qu'est-ce que c'est ?!",
        "50 % de 5 €",
        "l’été d’ici",
    ],
    "de": [
        "„Ja“, sagte er.",
        "Wie geht's? Hans' Haus",
        "»Nein«, sagte sie.",
        "Vor- und Nachteile: 3,14 %",
    ],
    "es": ["¿Qué tal? ¡Hola!", "—Sí —dijo—, ¿y tú?", "«Hola», dijo.", "¿¡Qué!?"],
    "pt": ["Olá, mundo! Copo d'água (novo)."],
    "zh": ["你好，世界。"],
}


@pytest.mark.parametrize(("language", "text"), [(k, t) for k in WRITTEN for t in WRITTEN[k]])
def test_what_a_person_wrote_comes_back_as_it_was(language: str, text: str) -> None:
    tokenizer = Tokenizer.train([text], language, EVERY_WORD)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize(
    ("language", "spaced", "written"),
    [
        ("it", "Ciao , mondo !", "Ciao, mondo!"),
        ("it", "Perché ( no ) ?", "Perché (no)?"),
        ("it", "l' uomo dell' acqua", "l'uomo dell'acqua"),
        ("it", "un po' di pane", "un po' di pane"),
        ("en", "it 's John 's , is n't it ?", "it's John's, isn't it?"),
        ("en", 'he said " yes . "', 'he said "yes."'),
        ("en", "adopt mr wijkman ' s report", "adopt mr wijkman's report"),
        ("fr", "l' eau , c' est bon", "l'eau, c'est bon"),
        ("es", "¿ qué ?", "¿qué?"),
    ],
)
def test_text_spaced_out_in_the_corpus_reads_like_text(
    language: str, spaced: str, written: str
) -> None:
    tokenizer = Tokenizer.train([spaced], language, EVERY_WORD)
    assert tokenizer.decode(tokenizer.encode(spaced)) == written


@pytest.mark.parametrize(
    ("language", "tokens", "written"),
    [
        ("it", ["L", "'", "uomo", "disse", ":", "\"'", "No", "'\"."], "L'uomo disse: \"'No'\"."),
        ("it", ["un", "po", "'", "di"], "un po' di"),
        ("en", ["don", "'", "t", "well", "-", "known", "?!"], "don't well-known?!"),
        ("en", ["3", ".", "14", "$", "5", "50", "%"], "3.14 $5 50%"),
        ("fr", ["50", "%"], "50 %"),
        ("en", ["here", "--", "now"], "here--now"),
    ],
)
def test_tokens_of_a_plain_whitespace_pre_tokenizer(
    language: str, tokens: list[str], written: str
) -> None:
    assert detokenize(tokens, language, marked=False) == written


def test_nothing_gives_nothing() -> None:
    assert detokenize([], "it") == ""


@given(
    st.lists(st.text(min_size=1, max_size=4) | st.sampled_from(list("'\"“”«»-—%$.,(")), max_size=9),
    st.sampled_from(["en", "it", "fr", "de", "es", "sv", ""]),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_no_letter_is_added_or_lost(tokens: list[str], language: str, marked: bool) -> None:
    text = detokenize(tokens, language, marked)
    assert text.replace(" ", "") == "".join(tokens).replace(" ", "")


@pytest.mark.parametrize("corpus", ["openmix", "europarl"])
@pytest.mark.parametrize("language", ["en", "it"])
def test_real_references_survive(corpus: str, language: str) -> None:
    path = SHARED / corpus / "train.jsonl"
    if not path.exists():
        pytest.skip("the shared corpora are not beside this checkout")
    with path.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["translation"][language] for line, _ in zip(lines, range(5000))]  # noqa: B905
    tokenizer = Tokenizer.train(texts[:4000], language, TokenizerConfig())
    hypotheses = [
        tokenizer.decode(ids, tokenizer.unknown(text))
        for ids, text in zip(tokenizer.encode_batch(texts), texts, strict=True)
    ]
    score = sacrebleu.corpus_bleu(hypotheses, [texts], force=True).score
    assert score >= (99.8 if corpus == "openmix" else 99.0)
