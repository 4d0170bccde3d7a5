"""`mt train` and its corpus: what is read, left out, refused and learnt."""

from __future__ import annotations

import json
import os
import random
import re
import unicodedata
from pathlib import Path

import pytest
import yaml

from mt.training.metrics import read_metrics
from tests.cli.training import Mt, Names, content, train, vocabulary
from tests.conftest import (
    ROOT,
    mt_process,
    toy_config,
    toy_pairs,
    write_jsonl,
)


def add_rows(*rows: object) -> None:
    with Path("pairs.jsonl").open("a", encoding="utf-8") as file:
        for row in rows:
            file.write((row if isinstance(row, str) else json.dumps(row)) + "\n")


def pair(en: object, it: object) -> dict[str, object]:
    return {"translation": {"en": en, "it": it}}


def test_rows_that_are_left_out_are_counted_with_a_reason(corpus: Path, mt: Mt) -> None:
    add_rows(pair("", "il gatto."), pair("the fox runs.", " \u00a0"), pair("a\u200b", "\u200b"))
    result = train(mt)
    assert result.status == 0
    assert "60 pairs of 63 rows read" in result.err
    assert any(
        re.search(r"\b3\b", line) and ("blank" in line or "empty" in line) and "row 61" in line
        for line in result.err.splitlines()
    ), result.err


def test_pairs_that_are_too_long_are_found_before_step_1(corpus: Path, mt: Mt) -> None:
    add_rows(pair("cat " * 200, "gatto " * 190))
    result = train(mt, data__valid_size=0)
    assert result.status == 0
    said = next(line for line in result.err.splitlines() if "too long" in line)
    assert re.search(r"\b1 .*data\.max_length \(24 tokens a side\).*\b61\b", said)


def test_repetitions_are_reported_and_never_on_both_sides(here: Path, mt: Mt) -> None:
    write_jsonl(Path("pairs.jsonl"), toy_pairs(20) * 3)
    result = train(mt, data__valid_size=0.2)
    assert result.status == 0
    assert re.search(r"40\b.*duplicate", result.err)
    data = json.loads(Path("weights/toy/data.json").read_text())
    assert data["splits"]["train"]["pairs"] + data["splits"]["valid"]["pairs"] == 20
    for kinds in data["leaks"].values():
        for name in kinds.keys() & {"same pair", "same source text"}:
            assert kinds[name]["count"] == 0


@pytest.mark.parametrize("prefix", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_text_pairs_have_one_vocabulary_whatever_their_line_ends(
    here: Path, mt: Mt, prefix: bytes, end: bytes
) -> None:
    for side, language in enumerate(("en", "it")):
        lines = [p[side].encode() + end for p in toy_pairs(40)]
        Path(f"a.{language}").write_bytes(prefix + b"".join(lines))
    sources = [{"src_file": "a.en", "tgt_file": "a.it"}]
    result = train(mt, data__source=sources, data__valid_size=0)
    assert result.status == 0, result.err
    assert "40 pairs of 40 rows read" in result.err
    words = {word for side in toy_pairs(40) for word in side[0].rstrip(".").split()}
    assert vocabulary("en") == words | {".", "[UNK]", "[PAD]", "[SOS]", "[EOS]"}
    assert not any("\ufeff" in t or "\r" in t for lang in ("en", "it") for t in vocabulary(lang))


def test_hidden_line_breaks_do_not_shift_text_pairs(here: Path, mt: Mt) -> None:
    Path("a.en").write_text("the cat\u2028sleeps.\nthe dog eats.\n")
    Path("a.it").write_text("il gatto dorme.\nil cane mangia.\n")
    sources = [{"src_file": "a.en", "tgt_file": "a.it"}]
    result = train(mt, data__source=sources, data__valid_size=0)
    assert result.status == 0
    assert "2 pairs of 2 rows read" in result.err


def test_text_pairs_of_unequal_length_are_refused_with_both_counts(
    here: Path, mt: Mt, names: Names
) -> None:
    Path("a.en").write_text("one\ntwo\nthree\n")
    Path("a.it").write_text("uno\ndue\n")
    result = train(mt, data__source=[{"src_file": "a.en", "tgt_file": "a.it"}])
    assert result.status == 2
    assert all(part in result.err for part in ("a.en", "a.it", "3", "2"))
    assert names() == {"a.en", "a.it", "toy.yaml"}


def test_a_corpus_that_is_not_utf8_is_named_with_the_line(here: Path, mt: Mt, names: Names) -> None:
    Path("a.en").write_bytes(b"the cat\nthe coffee\n")
    Path("a.it").write_bytes(b"il gatto\nil caff\xe8\n")
    result = train(mt, data__source=[{"src_file": "a.en", "tgt_file": "a.it"}])
    assert result.status == 2
    assert "a.it" in result.err
    assert "line 2" in result.err
    assert "not UTF-8" in result.err
    assert names() == {"a.en", "a.it", "toy.yaml"}


def test_control_characters_and_entities_are_not_learnt(corpus: Path, mt: Mt) -> None:
    add_rows(
        pair("the cat\x00sleeps\x07 well.", "il gatto dorme."),
        pair("it&apos;s the cat &amp; the dog.", "&egrave; il gatto &amp; il cane."),
    )
    result = train(mt, data__valid_size=0)
    assert result.status == 0
    tokens = vocabulary("en") | vocabulary("it")
    assert not any(unicodedata.category(c) == "Cc" for token in tokens for c in token)
    assert not tokens & {"apos", "amp", "egrave"}
    assert {"è", "&"} <= {token.strip() for token in tokens}
    assert "entities" in result.err


def test_the_vocabulary_is_the_same_in_either_unicode_form(here: Path, mt: Mt) -> None:
    found = []
    for form in ("NFC", "NFD"):
        accents = [("coffee why.", "caffè perché."), ("the city is so.", "la città è così.")]
        pairs = [(s, unicodedata.normalize(form, t)) for s, t in toy_pairs(10) + accents]
        write_jsonl(Path("pairs.jsonl"), pairs)
        assert train(mt, data__valid_size=0, name=form.lower()).status == 0
        found.append(Path(f"weights/{form.lower()}/tokenizer_it.json").read_bytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("code", ["no", "on"])
def test_norwegian_is_a_language(here: Path, mt: Mt, code: str) -> None:
    write_jsonl(Path("pairs.jsonl"), toy_pairs(20), tgt=code)
    text = yaml.safe_dump(toy_config(data__tgt="XX")).replace("XX", code)
    Path("toy.yaml").write_text(text)
    assert f"tgt: {code}\n" in text
    assert mt("train", "--config", "toy.yaml", "--set", "training.max_steps=1").status == 0
    assert Path(f"weights/toy/tokenizer_{code}.json").exists()
    assert not [p for p in Path("weights/toy").iterdir() if "False" in p.name or "True" in p.name]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_no_validation_pairs_is_said_before_training(here: Path, mt: Mt, count: int) -> None:
    write_jsonl(Path("pairs.jsonl"), toy_pairs(count))
    result = train(mt)
    assert result.status == 0
    assert "valid" in result.err
    assert "nan" not in result.err.lower().replace("finance", "")
    for line in read_metrics(Path("runs/toy")):
        assert all(value == value for value in line.values())


def test_random_digits_cannot_be_guessed(here: Path, mt: Mt) -> None:
    """Held-out loss stays near ln 10 = 2.30 unless the decoder sees what it has to say."""
    chance = random.Random(1)
    digits = ["zero", "uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove"]
    lines = [" ".join(chance.choice(digits) for _ in range(8)) for _ in range(300)]
    write_jsonl(Path("pairs.jsonl"), [("go", line) for line in lines])
    result = train(mt, training__max_steps=150, training__batch_size=32, training__lr=5e-3,
                   training__label_smoothing=0.0, data__valid_size=0.2, training__epochs=None,
                   training__validate_every="50 steps", model__dropout=0.0,
                   data__cleaning={"max_ratio": None})  # fmt: skip
    assert result.status == 0
    losses = [line["valid/loss"] for line in read_metrics(Path("runs/toy")) if "valid/loss" in line]
    assert len(losses) == 3
    assert all(loss >= 1.9 for loss in losses)  # 9 tokens with EOS: 8 / 9 of 2.30 is 2.05
    assert losses[0] < 2.8  # it did learn which words there are


def test_other_data_under_the_same_name_is_refused(corpus: Path, mt: Mt) -> None:
    assert train(mt).status == 0
    before = content(Path("weights"))
    write_jsonl(Path("pairs.jsonl"), toy_pairs(30))
    result = train(mt, training__max_steps=9)
    assert result.status == 2
    assert "the data is not what" in result.err
    assert "--restart" in result.err
    assert content(Path("weights")) == before


def test_without_a_network_it_says_so_and_what_to_do(here: Path, mt: Mt) -> None:
    result = mt("train", "--config", ROOT / "configs" / "opus_books_en_it.yaml")
    assert (result.status, result.out) == (2, "")
    assert len(result.err.splitlines()) == 1
    for part in ("offline", "Helsinki-NLP/opus_books", "data.source=FILE", "phrasebook"):
        assert part in result.err
    assert list(here.iterdir()) == []


def test_with_a_network_that_answers_nothing_it_says_so_in_good_time(
    here: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """`mt_process` ends it after two minutes; what is asked of it is one."""
    dead = "http://127.0.0.1:9"
    environment = {
        **os.environ, "HF_HOME": str(tmp_path_factory.mktemp("hf")), "HF_HUB_OFFLINE": "0",
        "HTTPS_PROXY": dead, "HTTP_PROXY": dead, "https_proxy": dead, "http_proxy": dead,
        "NO_PROXY": "", "no_proxy": "",
    }  # fmt: skip
    ended = mt_process(
        "train", "--config", ROOT / "configs" / "opus_books_en_it.yaml", env=environment
    )
    said = ended.stderr.decode()
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert "cannot reach" in said
    assert "Helsinki-NLP/opus_books" in said
    assert len(said.splitlines()) == 1
    assert list(here.iterdir()) == []


def test_one_vocabulary_for_both_sides_is_told_as_one(corpus: Path, mt: Mt) -> None:
    tokenizer = {"tokenizer__kind": "bpe", "tokenizer__vocab_size": 300}
    shared = train(mt, tokenizer__shared=True, **tokenizer)
    assert "\nvocabulary   300, shared by en and it\n" in shared.err
    result = mt("data", "--config", "toy.yaml", "--set", "tokenizer.shared=false")
    assert "\nvocabulary   300 en, 300 it\n" in result.out


def test_a_budget_smaller_than_the_longest_pair_is_refused(corpus: Path, mt: Mt) -> None:
    result = train(mt, training__batch_size=None, training__batch_tokens=4)
    assert result.status == 2
    assert re.search(
        r"training\.batch_tokens \(4\) is smaller than the longest training pair \(\d+ tokens a "
        r"side\): raise it to \d+ or more, or lower data\.max_length \(\d+\)",
        result.err,
    )
    assert not Path("weights").exists()
