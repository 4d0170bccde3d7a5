"""From config to cleaned and split pairs: every form, several corpora, the report, the cache."""

from __future__ import annotations

import gzip
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mt.config import DataConfig, TokenizerConfig
from mt.config_file import config_from_dict
from mt.errors import UserError
from mt.text import corpus as corpus_module
from mt.text.corpus import Corpus, load_corpus
from mt.text.report import report_from_dict
from mt.text.stream import sentences
from mt.text.tokenizer import Tokenizer

pytestmark = pytest.mark.usefixtures("cache")
Pairs = list[tuple[str, str]]

NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NUMERI = ["uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove", "dieci"]
THINGS = [("cats", "gatti"), ("dogs", "cani"), ("foxes", "volpi"), ("birds", "uccelli")]
PAIRS = [
    (f"I see {n} “{thing}” & more, l'été.", f"Vedo {m} «{cosa}» e più.")
    for n, m in zip(NUMBERS, NUMERI, strict=True)
    for thing, cosa in THINGS
]


def load(**data: Any) -> Corpus:
    return load_corpus(DataConfig(**{"src": "en", "tgt": "it", **data}))


def refused(**data: Any) -> str:
    with pytest.raises(UserError) as error:
        load(**data)
    return str(error.value)


def pairs_of(split: datasets.Dataset) -> Pairs:
    return list(zip(split["src"], split["tgt"], strict=True))


def all_pairs(corpus: Corpus) -> Pairs:
    return [pair for split in corpus.splits.values() for pair in pairs_of(split)]


def write(path: Path, text: str) -> str:
    path.write_bytes(text.encode())
    return str(path)


def jsonl(path: Path, pairs: Pairs = PAIRS, **more: Any) -> str:
    rows = [{"translation": {"en": a, "it": b}, **more} for a, b in pairs]
    return write(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def as_text(folder: Path) -> str:
    for side, language in enumerate(("en", "it")):
        write(folder / f"corpus.{language}", "".join(f"{p[side]}\n" for p in PAIRS))
    return str(folder / "corpus")


def as_packed_text(folder: Path) -> str:
    for side, language in enumerate(("en", "it")):
        text = "".join(f"{p[side]}\r\n" for p in PAIRS)
        (folder / f"corpus.{language}.gz").write_bytes(gzip.compress(text.encode()))
    return str(folder / "corpus")


def as_csv(folder: Path) -> str:
    rows = [f'"{b}","{a}"\r\n' for a, b in PAIRS]
    return write(folder / "a.csv", "\ufeffit,en\r\n" + "".join(rows))


def as_zst(folder: Path) -> str:
    with pa.CompressedOutputStream(str(folder / "a.tsv.zst"), "zstd") as sink:
        sink.write("".join(f"{a}\t{b}\n" for a, b in PAIRS).encode())
    return str(folder / "a.tsv.zst")


def as_table() -> list[dict[str, Any]]:
    return [{"id": n, "translation": {"en": a, "it": b}} for n, (a, b) in enumerate(PAIRS)]


def as_parquet(folder: Path) -> str:
    pq.write_table(pa.Table.from_pylist(as_table()), folder / "a.parquet")
    return str(folder / "a.parquet")


def as_parquet_folder(folder: Path) -> str:
    (folder / "parts").mkdir()
    for n in (0, 1):
        rows = as_table()[n * 20 : n * 20 + 20]
        pq.write_table(pa.Table.from_pylist(rows), folder / "parts" / f"train-{n:05}.parquet")
    return str(folder / "parts")


def as_saved(folder: Path) -> str:
    datasets.Dataset.from_list(as_table()).save_to_disk(str(folder / "saved"))
    return str(folder / "saved")


def as_tmx(folder: Path) -> str:
    def unit(a: str, b: str) -> str:
        a = a.replace("&", "&amp;")
        sides = (f'<tuv xml:lang="{n}"><seg>{s}</seg></tuv>' for n, s in (("en", a), ("it", b)))
        return f"<tu>{''.join(sides)}</tu>"

    units = "".join(unit(a, b) for a, b in PAIRS)
    return write(folder / "a.tmx", f'<tmx version="1.4"><body>{units}</body></tmx>')


FORMS = {
    "jsonl": lambda folder: jsonl(folder / "a.jsonl"),
    "text": as_text,
    "text.gz": as_packed_text,
    "tsv": lambda folder: write(folder / "a.tsv", "".join(f"{a}\t{b}\n" for a, b in PAIRS)),
    "tsv.zst": as_zst,
    "csv": as_csv,
    "parquet": as_parquet,
    "folder": as_parquet_folder,
    "pattern": lambda folder: f"{as_parquet_folder(folder)}/*.parquet",
    "saved": as_saved,
    "tmx": as_tmx,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_pairs_split_and_tokenizers(tmp_path: Path, form: str) -> None:
    expected = load(source=jsonl(tmp_path / "reference.jsonl"), valid_size=0.2, test_size=5)
    (tmp_path / "data").mkdir()
    found = load(source=FORMS[form](tmp_path / "data"), valid_size=0.2, test_size=5)
    assert [len(s) for s in found.splits.values()] == [27, 8, 5]
    for name, split in found.splits.items():
        assert pairs_of(split) == pairs_of(expected.splits[name])
    assert sorted(all_pairs(found)) == sorted(PAIRS)
    hashes = [{n: s.hash for n, s in c.report.splits.items()} for c in (found, expected)]
    assert hashes[0] == hashes[1]
    for side, language in (("src", "en"), ("tgt", "it")):
        made = [
            Tokenizer.train(sentences(c.splits["train"], side), language, TokenizerConfig())
            for c in (found, expected)
        ]
        assert made[0].to_json() == made[1].to_json()


def test_either_direction(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "a.jsonl")
    assert all_pairs(load(source=source, src="it", tgt="en", valid_size=0)) == [
        (b, a) for a, b in PAIRS
    ]


# ---- what is dropped, mended and reported -----------------


def test_blank_sides_are_dropped_as_pairs(tmp_path: Path) -> None:
    pairs = [*PAIRS[:20], ("", "il gatto dorme ."), ("the fox runs .", " \u00a0"), *PAIRS[20:]]
    report_of = load(source=jsonl(tmp_path / "a.jsonl", pairs), valid_size=0)
    assert all_pairs(report_of) == PAIRS
    dropped = report_of.report.dropped["blank side"]
    assert dropped.count == 2
    assert [e["row"] for e in dropped.examples] == [21, 22]
    assert any("2 rows, blank side: a.jsonl row 21" in line for line in report_of.report.lines())


def test_rows_are_mended_and_counted(tmp_path: Path) -> None:
    pairs = [*PAIRS, ("it &apos;s", "è"), ("a\x00b", "c\u00a0d"), ("\ufeffx", "caffe\u0300")]
    found = load(source=jsonl(tmp_path / "a.jsonl", pairs), valid_size=0)
    assert all_pairs(found)[-3:] == [("it 's", "è"), ("a b", "c d"), ("x", "caffè")]
    counts = {kind: tally.count for kind, tally in found.report.mended.items()}
    assert counts == {
        "entities": 1,
        "control characters": 1,
        "odd spaces": 1,
        "invisible characters": 1,
        "Unicode form": 1,
    }
    assert any("1 row, entities" in line for line in found.report.lines())


def test_a_row_of_two_files_is_named_by_both(tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("one\ntwo &amp; three\n", "utf-8")
    (tmp_path / "a.it").write_text("uno\ndue e tre\n", "utf-8")
    lines = load(source=str(tmp_path / "a"), valid_size=0).report.lines()
    assert any("1 row, entities: a.en + a.it row 2" in line for line in lines)


def test_references_are_the_untouched_text(tmp_path: Path) -> None:
    raw = [("one  cat", "un  gatto &egrave;\u00a0qui"), ("two dogs", "due cani")]
    path = jsonl(tmp_path / "v.jsonl", raw)
    found = load(source=jsonl(tmp_path / "a.jsonl"), valid=path, test=path)
    for name in ("valid", "test"):
        assert found.splits[name]["ref"] == [b for _, b in raw]
        assert found.splits[name]["tgt"] == ["un gatto è qui", "due cani"]
    assert "ref" not in found.splits["train"].column_names


def test_bad_rows_are_named_and_the_rest_is_used(tmp_path: Path) -> None:
    text = "".join(f"{a}\t{b}\n" for a, b in PAIRS[:30]) + "one\ttwo\tthree\nlonely\n"
    found = load(source=write(tmp_path / "a.tsv", text), valid_size=0)
    assert len(found.splits["train"]) == 30
    assert found.report.bad.count == 2
    assert [e["row"] for e in found.report.bad.examples] == [31, 32]
    line = next(line for line in found.report.lines() if line.startswith("bad"))
    assert line.startswith(
        "bad          2 rows, left out: a.tsv row 31, 3 fields where 2 are expected"
    )


def test_too_many_bad_rows_stop(tmp_path: Path) -> None:
    text = "the cat sleeps .\til gatto dorme .\nthe dog\teats .\til cane mangia .\nthe fox runs .\n"
    path = write(tmp_path / "pairs.tsv", text)
    message = refused(source=path)
    assert f"{path}: 2 of 3 rows are bad, more than 10%" in message
    assert (
        "line 2 (3 fields where 2 are expected); line 3 (1 field where 2 are expected)" in message
    )


def test_a_tenth_of_bad_rows_is_still_borne(tmp_path: Path) -> None:
    good = "".join(f"{a}\t{b}\n" for a, b in PAIRS[:9])
    assert (
        len(load(source=write(tmp_path / "a.tsv", f"{good}bad\n"), valid_size=0).splits["train"])
        == 9
    )
    assert "2 of 11" in refused(source=write(tmp_path / "b.tsv", f"{good}bad\nbad\n"))


def test_duplicates_are_dropped_and_counted(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "a.jsonl", PAIRS[:10] * 3)
    found = load(source=source, valid_size=0.2)
    assert sorted(all_pairs(found)) == sorted(PAIRS[:10])
    assert found.report.dropped["duplicate"].count == 20
    assert found.report.dropped["duplicate"].examples[0]["row"] == 11
    assert (found.report.read, found.report.kept) == (30, 10)
    kept = load(source=source, valid_size=0.2, cleaning={"duplicates": False})
    assert [len(kept.splits[s]) for s in ("train", "valid")] == [24, 6]


def test_report_survives_json(tmp_path: Path) -> None:
    pairs = [*PAIRS, *PAIRS[:5], ("", "x"), ("a&amp;b", "c")]
    report = load(source=jsonl(tmp_path / "a.jsonl", pairs), valid=str(tmp_path / "a.jsonl")).report
    assert report_from_dict(json.loads(json.dumps(report.as_dict()))) == report
    assert report.files[0].sha256 == report.files[1].sha256
    assert (report.files[0].rows, report.files[0].kept) == (47, 46)


# ---- where the pairs come from ----------------------------


def test_rows_and_files_are_told_of_each_pair(tmp_path: Path) -> None:
    first = jsonl(tmp_path / "a.jsonl", [("", ""), PAIRS[0]])
    second = write(tmp_path / "b.tsv", "en\tit\nx\ty\n")
    train = load(source=[first, second], valid_size=0).splits["train"]
    assert list(zip(train["file"], train["row"], strict=True)) == [(0, 2), (1, 2)]


@pytest.mark.parametrize(
    ("weight", "least", "most"), [(1, 40, 40), (3, 120, 120), (0.5, 10, 30), (1.5, 50, 70)]
)
def test_weights(tmp_path: Path, weight: float, least: int, most: int) -> None:
    extra = [(f"extra {a}", f"in più {b}") for a, b in PAIRS]
    source = [
        jsonl(tmp_path / "a.jsonl"),
        {"source": jsonl(tmp_path / "b.jsonl", extra), "weight": weight},
    ]
    data = config_from_dict(
        {"name": "x", "data": {"source": source, "src": "en", "tgt": "it"}}, "x"
    ).data
    found = load_corpus(data.model_copy(update={"valid_size": 0.0}))
    files = found.splits["train"]["file"]
    assert files.count(0) == 40
    assert least <= files.count(1) <= most
    assert found.report.splits["train"].pairs == len(files)


def test_weights_that_leave_nothing(tmp_path: Path) -> None:
    item = {"source": jsonl(tmp_path / "a.jsonl"), "weight": 1e-9}
    data = {"source": [item], "src": "en", "tgt": "it"}
    with pytest.raises(UserError, match="weights leave no training pair"):
        load_corpus(config_from_dict({"name": "x", "data": data}, "x").data)


def test_two_text_files_with_any_names(tmp_path: Path) -> None:
    files = {
        "src_file": write(tmp_path / "source.txt", "one\ntwo\n"),
        "tgt_file": write(tmp_path / "target.txt", "uno\ndue\n"),
    }
    data = {"source": [files], "src": "en", "tgt": "it", "valid_size": 0}
    found = load_corpus(config_from_dict({"name": "x", "data": data}, "x").data)
    assert all_pairs(found) == [("one", "uno"), ("two", "due")]


def test_one_file_of_a_text_pair_finds_the_other(tmp_path: Path) -> None:
    assert all_pairs(load(source=f"{as_text(tmp_path)}.en", valid_size=0)) == PAIRS


def test_given_validation_and_test_files_are_taken_whole(tmp_path: Path) -> None:
    held = [PAIRS[0], PAIRS[0], ("same " * 8, "same " * 8), ("", "blank")]
    found = load(
        train=jsonl(tmp_path / "a.jsonl"),
        valid=jsonl(tmp_path / "v.jsonl", held),
        test=jsonl(tmp_path / "t.jsonl", PAIRS[5:8]),
        valid_size=0.5,
        test_size=0.5,
    )
    assert [len(s) for s in found.splits.values()] == [40, 3, 3]
    assert found.report.splits["valid"].origin == "given"


@pytest.mark.parametrize("form", ["saved", "folder"])
def test_a_source_keeps_the_splits_it_brings(tmp_path: Path, form: str) -> None:
    parts = {"train": PAIRS[:30], "validation": PAIRS[30:35], "test": PAIRS[35:]}
    if form == "saved":
        rows = {k: [{"en": a, "it": b} for a, b in v] for k, v in parts.items()}
        tables = datasets.DatasetDict({k: datasets.Dataset.from_list(v) for k, v in rows.items()})
        tables.save_to_disk(str(tmp_path / "d"))
    else:
        (tmp_path / "d").mkdir()
        for name, pairs in parts.items():
            jsonl(tmp_path / "d" / f"{name}.jsonl", pairs)
    found = load(source=str(tmp_path / "d"))
    assert [pairs_of(s) for s in found.splits.values()] == list(parts.values())
    other = load(source=str(tmp_path / "d"), valid=jsonl(tmp_path / "v.jsonl", PAIRS[:2]))
    assert pairs_of(other.splits["valid"]) == PAIRS[:2]
    assert len(other.splits["test"]) == 5


def test_phrasebook(monkeypatch: pytest.MonkeyPatch) -> None:
    module = type(sys)("mt.text.phrasebook")
    parts = {"train": PAIRS[:30], "valid": PAIRS[30:35], "test": PAIRS[35:]}
    module.phrasebook = lambda: parts  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mt.text.phrasebook", module)
    assert [pairs_of(s) for s in load(source="phrasebook").splits.values()] == list(parts.values())
    backwards = load(source="phrasebook", src="it", tgt="en").splits["train"]
    assert pairs_of(backwards) == [(b, a) for a, b in PAIRS[:30]]
    assert "English and Italian" in refused(source="phrasebook", tgt="fr")


# ---- what cannot be had -----------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("nothing.jsonl", "no such file: {folder}/nothing.jsonl"),
        ("corpsu.jsonl", "did you mean corpus.jsonl?"),
        ("{folder}/data/x.tsv.gz", "no such file: {folder}/data/x.tsv.gz"),
        ("{folder}/nothing", "no such file: {folder}/nothing (nor nothing.en with nothing.it"),
        ("phrasebok", "did you mean phrasebook?"),
        ("nothing", "nor text files nothing.en and nothing.it, nor a Hub id"),
        ("readme.md", "{folder}/readme.md: cannot tell its form by its extension"),
        ("lonely.en", "{folder}/lonely.en: cannot tell its form"),
        ("*.csv", "no file matches *.csv"),
        ("empty_folder", "{folder}/empty_folder: neither a data set saved"),
        ("broken_set", "{folder}/broken_set: a damaged data set"),
        ("empty.tsv", "no training pairs in {folder}/empty.tsv: 0 rows read"),
        ("blank.tsv", "no training pairs in {folder}/blank.tsv: 2 rows read, 2 blank side"),
        ("odd_splits", "{folder}/odd_splits: no split train, valid or test; found: left, right"),
        ("test_only", "no training pairs among the splits"),
    ],
)
def test_sources_that_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    jsonl(tmp_path / "corpus.jsonl")
    for name in ("readme.md", "lonely.en", "empty.tsv"):
        write(tmp_path / name, "")
    write(tmp_path / "blank.tsv", "\t\n\t\n")
    for name in ("empty_folder", "broken_set", "test_only"):
        (tmp_path / name).mkdir()
    write(tmp_path / "broken_set" / "state.json", "{")
    jsonl(tmp_path / "test_only" / "test.jsonl")
    one = datasets.Dataset.from_list([{"en": "a", "it": "b"}])
    datasets.DatasetDict({"left": one, "right": one}).save_to_disk(str(tmp_path / "odd_splits"))
    message = refused(source=source.format(folder=tmp_path))
    assert expected.format(folder=tmp_path) in message
    assert "\n" not in message


def test_wrong_columns_of_a_saved_data_set(tmp_path: Path) -> None:
    assert "no column fr; found: id, en, it" in refused(source=as_saved(tmp_path), tgt="fr")


def test_given_file_without_pairs(tmp_path: Path) -> None:
    empty = write(tmp_path / "v.tsv", "")
    message = refused(source=jsonl(tmp_path / "a.jsonl"), valid=empty)
    assert message == f"{empty}: no valid pairs in it (0 rows read)"


def test_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", write(tmp_path / "file", ""))
    message = refused(source=jsonl(tmp_path / "a.jsonl"))
    assert "cannot write the data cache" in message
    assert "HF_DATASETS_CACHE" in message


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"source": []}, "data.source ([]): expected a name, or a list of names and"),
        ({"source": 5}, "data.source (5): expected a name, or a list"),
        ({"source": "a", "valid": [5]}, "data.valid ([5]): item 1: expected a name or"),
        ({"source": [{"sorce": "a"}]}, "item 1: sorce is not a key; known here: source, src_file"),
        (
            {"source": [{"source": "a", "weight": -1}]},
            "item 1: weight (-1): must be greater than 0",
        ),
        ({"source": [{"weight": 2}]}, "item 1: source or else src_file with tgt_file"),
        ({"source": ["a", {"src_file": "a"}]}, "item 2: src_file needs tgt_file beside it"),
        ({"source": "a", "src_column": "x"}, "data.src_column needs data.tgt_column beside it"),
    ],
)
def test_config_mistakes(data: dict[str, Any], expected: str) -> None:
    with pytest.raises(UserError) as error:
        config_from_dict({"name": "x", "data": {"src": "en", "tgt": "it", **data}}, "x.yaml")
    assert expected in str(error.value)


# ---- the cache --------------------------------------------


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that are built, in order."""
    folders: list[Path] = []
    build = corpus_module._build

    def spy(data: DataConfig, inputs: Any, folder: Path) -> None:
        folders.append(folder)
        build(data, inputs, folder)

    monkeypatch.setattr(corpus_module, "_build", spy)
    return folders


def test_cache_is_used_while_nothing_changes(tmp_path: Path, built: list[Path]) -> None:
    source = jsonl(tmp_path / "a.jsonl")
    first = load(source=source)
    second = load(source=source, max_length=99)
    assert len(built) == 1
    assert first.report == second.report
    assert [s._fingerprint for s in first.splits.values()] == [
        s._fingerprint for s in second.splits.values()
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"valid_size": 0.2},
        {"test_size": 3},
        {"cleaning": {"duplicates": False}},
        {"src": "it", "tgt": "en"},
        {"valid": "v.jsonl"},
    ],
)
def test_cache_is_not_used_when_a_setting_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: list[Path], change: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    jsonl(tmp_path / "v.jsonl", PAIRS[:3])
    source = jsonl(tmp_path / "a.jsonl")
    load(source=source)
    load(source=source, **change)
    assert len(set(built)) == 2


@pytest.mark.parametrize("form", ["jsonl", "text", "saved"])
def test_cache_is_not_used_when_the_content_changed(
    tmp_path: Path, built: list[Path], form: str
) -> None:
    source = FORMS[form](tmp_path)
    load(source=source)
    files = [p for p in tmp_path.rglob("*") if "cache" not in p.parts]
    changed = next(p for p in files if p.suffix in (".jsonl", ".it", ".arrow"))
    content, stat = changed.read_bytes(), changed.stat()
    changed.write_bytes(content.replace(b"Vedo uno", b"Vede uno"))  # same size, and the same time
    os.utime(changed, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert "Vede uno" in str(all_pairs(load(source=source)))
    assert len(set(built)) == 2


@pytest.mark.parametrize("name", ["report.json", "train.arrow", "valid.arrow"])
@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_damaged_cache_is_made_again(
    tmp_path: Path, cache: Path, built: list[Path], name: str, damage: str
) -> None:
    source = jsonl(tmp_path / "a.jsonl")
    before = all_pairs(load(source=source))
    file = next((cache / "mt-corpora").rglob(name))
    content = file.read_bytes()
    file.unlink()
    if damage == "cut":
        file.write_bytes(content[: len(content) // 2])
    assert all_pairs(load(source=source)) == before
    assert len(built) == 2


def test_nothing_is_left_of_a_build_that_failed(tmp_path: Path, cache: Path) -> None:
    refused(source=write(tmp_path / "a.tsv", "bad\n"))
    assert list((cache / "mt-corpora").iterdir()) == []


def test_a_build_by_another_process_is_not_disturbed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    source = jsonl(tmp_path / "a.jsonl")
    build = corpus_module._build

    def twice(data: DataConfig, inputs: Any, folder: Path) -> None:
        build(data, inputs, folder)
        build(data, inputs, folder)

    monkeypatch.setattr(corpus_module, "_build", twice)
    assert len(load(source=source, valid_size=0).splits["train"]) == 40
    assert len(list((cache / "mt-corpora").iterdir())) == 1


# ---- rules of the house -----------------------------------


def test_no_torch_is_imported() -> None:
    code = "import sys, mt.text.corpus, mt.text.hub; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


PEAK = """
import resource, sys
from mt.config import DataConfig
from mt.text.corpus import load_corpus
found = load_corpus(DataConfig(src="en", tgt="it", source=sys.argv[1]))
print(sum(map(len, found.splits.values())), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_ten_times_the_rows_take_hardly_more_memory(tmp_path: Path) -> None:
    peaks = []
    for rows in (10_000, 100_000):
        lines = (f"cats {word(n)} {word(n // 7)}\til gatto {word(n)}\n" for n in range(rows))
        source = write(tmp_path / f"{rows}.tsv", "".join(lines))
        done = subprocess.run(
            [sys.executable, "-c", PEAK, source],
            env={**os.environ, "HF_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            check=True,
        )
        count, peak = map(int, done.stdout.split())
        assert count == rows
        peaks.append(peak)
    assert peaks[1] < 1.2 * peaks[0]


def word(number: int) -> str:
    return "".join(chr(97 + number // 26**place % 26) for place in range(4))


def test_nothing_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        load(source=as_saved(tmp_path))
    captured = capsys.readouterr()
    assert captured.out == ""


@pytest.mark.skipif(
    not Path(__file__).parents[3].joinpath("shared/data/openmix").is_dir(),
    reason="the real corpora are not here",
)
@pytest.mark.parametrize("name", ["openmix/test", "europarl/test", "opus_books/partial"])
def test_defaults_drop_next_to_nothing_of_real_text(name: str) -> None:
    source = Path(__file__).parents[3] / "shared/data" / f"{name}.jsonl"
    report = load(source=str(source)).report
    assert report.kept > 0.98 * report.read
