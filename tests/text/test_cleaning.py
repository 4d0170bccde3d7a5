"""The normal form of text, and the rules that leave pairs out."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.config import CleaningConfig
from mt.text.cleaning import MENDED, mend, normalize
from mt.text.filters import build_rule
from mt.text.scripts import _SCRIPTS_OF, foreign_script

ANY_TEXT = st.text(st.characters(codec=None), max_size=40)
TROUBLESOME = [
    *("&", "amp;", "lt;", "#38;", "#x26;", "am", "p;", ";", " ", "e", "à"),
    *("\u0301", "\u037e", "\u1100", "\u1161"),  # compose, or become another character
    *("\u00a0", "\u200b", "\xad", "\x00", "\r", "\u2028", "\ud800", "\ufeff"),
]
TROUBLE = st.lists(st.sampled_from(TROUBLESOME), max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("The house is small.", "The house is small."),
        ("il\u00a0gatto", "il gatto"),  # no-break space
        ("il\u202fgatto\u3000dorme", "il gatto dorme"),
        ("the cat\u2028sleeps", "the cat sleeps"),
        ("the cat\u0085sleeps\x0bnow\x0cand\rthen", "the cat sleeps now and then"),
        ("the cat\x00sleeps .", "the cat sleeps ."),
        ("a\x07b\x7fc\x9bd", "a b c d"),
        ("\ufeffthe cat", "the cat"),
        ("zero\u200bwidth\u2060 and soft\u00adhyphen", "zerowidth and softhyphen"),
        ("\u200eleft\u202ato\u202cright\u2069", "lefttoright"),
        ("  two   spaces\t and a tab ", "two spaces and a tab"),
        ("caffe\u0300", "caff\u00e8"),
        (unicodedata.normalize("NFD", "perché città è"), "perché città è"),
        ("it &apos;s the cat &amp; the dog .", "it 's the cat & the dog ."),
        ("&quot;Yes&quot;, &#232; vero&#33; &#xE8;", '"Yes", è vero! è'),
        ("&amp;quot;twice&amp;quot;", '"twice"'),
        ("a&nbsp;b", "a b"),
        ("&#0;", "\ufffd"),
        ("half \ud800 a pair", "half \ufffd a pair"),
    ],
)
def test_normal_form(text: str, expected: str) -> None:
    assert normalize(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "AT&T and R&D",
        "http://a.b/?x=1&copy=2&lt=3",  # an entity ends with a semicolon
        "&unknownname;",
        "a < b & c > d",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian needs its joiners
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",  # a family of one emoji
        "ﬁne ² ½ Ａ",  # compatibility forms are letters of their own
    ],
)
def test_what_is_text_stays(text: str) -> None:
    assert normalize(text) == text


@given(ANY_TEXT | TROUBLE)
@settings(max_examples=400, deadline=None)
def test_normal_form_is_stable_and_clean(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once
    assert once == once.strip()
    assert "  " not in once
    assert not set(once) & set("\n\r\t\x00\u00a0\u2028\u2029\u0085\ufeff\u200b")
    assert unicodedata.is_normalized("NFC", once)
    once.encode("utf-8")


@given(ANY_TEXT | TROUBLE)
@settings(max_examples=200, deadline=None)
def test_mend_says_when_it_changes(text: str) -> None:
    mended, kinds = mend(text)
    assert mended == normalize(text)
    assert bool(kinds) == (mended != text)
    assert set(kinds) <= set(MENDED)


def test_mend_names_what_it_did() -> None:
    assert mend("a&amp;b")[1] == ("entities",)
    assert mend("a\x00b")[1] == ("control characters",)
    assert mend("\ufeffa")[1] == ("invisible characters",)
    assert mend("a\u00a0b")[1] == ("odd spaces",)
    assert mend("e\u0301")[1] == ("Unicode form",)


def rule(**settings: object):
    return build_rule(CleaningConfig(**settings), "en", "it")


LONG = "this sentence is long enough to be held against its short translation, quite so, yes"


@pytest.mark.parametrize(
    ("settings", "src", "tgt", "reason"),
    [
        ({}, "", "x", "blank side"),
        ({}, "x", "", "blank side"),
        ({"max_characters": 10}, "x" * 11, "y", "too long"),
        ({"max_characters": 10}, "y", "x" * 11, "too long"),
        ({}, "x" * 5001, "x" * 5000, "too long"),
        ({}, LONG, "(ppe-de).", "uneven length"),
        ({}, "sì", LONG, "uneven length"),
        ({}, "one two three four five six", "one two three four five six", "identical sides"),
        ({}, "broken", "gi\ufffd rotto", "broken characters"),
        ({}, "the house", "дом стоит на холме", "wrong script"),
        ({}, "房子很小而且很旧也很漂亮的", "la casa", "wrong script"),
    ],
)
def test_pairs_that_are_dropped(settings: dict, src: str, tgt: str, reason: str) -> None:
    assert rule(**settings)(src, tgt) == reason


@pytest.mark.parametrize(
    ("settings", "src", "tgt"),
    [
        ({}, "Hotel", "Hotel"),
        ({}, "1984", "1984"),
        ({}, "Mary Anne Smith, London", "Mary Anne Smith, London"),
        ({}, "No.", "Nemmeno per sogno, signora mia."),
        ({}, "He said “Привет”.", "Disse “Привет”."),
        ({}, "α and β are 5 µm", "α e β sono 5 µm"),
        ({"identical": False}, "one two three four five six", "one two three four five six"),
        ({"max_ratio": None}, LONG, "(ppe-de)."),
        ({"max_characters": None}, "x" * 9000, "x" * 9000),
        ({"broken_characters": False}, "broken", "gi\ufffd rotto"),
        ({"wrong_script": False}, "the house", "дом стоит на холме"),
    ],
)
def test_pairs_that_stay(settings: dict, src: str, tgt: str) -> None:
    assert rule(**settings)(src, tgt) is None


SAMPLES = {
    "ru": "Дом маленький и старый",
    "el": "Το σπίτι είναι μικρό",
    "zh": "房子很小而且很旧也很漂亮的",
    "ja": "その家はとても小さくて古いですがきれいです",
    "ko": "그 집은 작고 오래되었습니다",
    "ar": "البيت صغير وقديم جدا",
    "fa": "می‌خواهم به خانه بروم",
    "he": "הבית קטן וישן מאוד",
    "hi": "घर छोटा और पुराना है",
    "th": "บ้านหลังนี้เล็กและเก่า",
    "ka": "სახლი პატარა და ძველია",
    "hy": "Տունը փոքր է և հին",
    "en": "The house is small and old",
    "vi": "Ngôi nhà nhỏ và cũ kỹ",
    "pl": "Dom jest mały i stary, źdźbło",
}


@pytest.mark.parametrize("language", SAMPLES)
@pytest.mark.parametrize("text_in", SAMPLES)
def test_scripts(language: str, text_in: str) -> None:
    foreign = foreign_script(language)
    assert foreign is not None
    assert foreign(SAMPLES[text_in]) == (_SCRIPTS_OF[text_in][0] not in _SCRIPTS_OF[language])


@pytest.mark.parametrize("language", ["tlh", "xx", "q", "engl"])
def test_no_script_is_known_for_a_made_up_language(language: str) -> None:
    assert foreign_script(language) is None


def test_regional_codes_have_the_script_of_their_language() -> None:
    assert foreign_script("pt-BR") is not None
    assert foreign_script("zh_Hans")("the house is small")  # type: ignore[misc]
