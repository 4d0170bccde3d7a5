"""Every form of a corpus: what is a line, a row, a pair; and what is said of one that is broken."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mt.errors import UserError
from mt.text.readers import READERS, read_text_pair
from mt.text.readers.lines import form_of, read_lines
from mt.text.rows import BATCH_ROWS, BadRow, Batches, Columns

EN_IT = Columns("en", "it")
Pairs = list[tuple[str | None, str | None]]


def read(path: Path, columns: Columns = EN_IT) -> tuple[Pairs, list[int], list[BadRow]]:
    return collect(READERS[form_of(path)][0](path, columns))


def collect(batches: Batches) -> tuple[Pairs, list[int], list[BadRow]]:
    pairs: Pairs = []
    rows: list[int] = []
    bad: list[BadRow] = []
    for batch in batches:
        pairs += zip(batch.src, batch.tgt, strict=True)
        rows += batch.rows
        bad += batch.bad
    return pairs, rows, bad


def refused(path: Path, columns: Columns = EN_IT) -> str:
    with pytest.raises(UserError) as error:
        read(path, columns)
    assert str(path.absolute()) in str(error.value)
    return str(error.value)


def file(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def lines_of(path: Path) -> list[str | None]:
    return [line for batch in read_lines(path) for line in batch.lines]


# ---- lines ------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\n", ["a", ""]),
        (b"\n\na\n", ["", "", "a"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\r\nb", ["a", "b"]),
        (b"\xef\xbb\xbfa\nb\n", ["a", "b"]),
        ("a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x1dh\x1ei\rj\nk".encode(), None),
    ],
)
def test_lines_end_at_line_feed_only(
    tmp_path: Path, content: bytes, expected: list[str] | None
) -> None:
    if expected is None:
        expected = content.decode().split("\n")
    assert lines_of(file(tmp_path, "a.txt", content)) == expected


@pytest.mark.parametrize("count", [1, BATCH_ROWS - 1, BATCH_ROWS, BATCH_ROWS + 1, 3 * BATCH_ROWS])
def test_lines_come_in_batches_with_their_numbers(tmp_path: Path, count: int) -> None:
    path = file(tmp_path, "a.txt", "".join(f"line {n} è\n" for n in range(1, count + 1)))
    numbered = [
        (number, line)
        for batch in read_lines(path)
        for number, line in enumerate(batch.lines, batch.first)
    ]
    assert numbered == [(n, f"line {n} è") for n in range(1, count + 1)]


def test_a_line_longer_than_a_chunk(tmp_path: Path) -> None:
    long = "è" * 2_500_000
    assert lines_of(file(tmp_path, "a.txt", f"a\n{long}\nb\n")) == ["a", long, "b"]


def zstd(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}
LINES = "".join(f"riga {n} è\n" for n in range(20_000))


@pytest.mark.parametrize("suffix", PACKERS)
def test_compressed_lines(tmp_path: Path, suffix: str) -> None:
    path = file(tmp_path, f"a.txt{suffix}", PACKERS[suffix](LINES.encode()))
    assert lines_of(path) == LINES.split("\n")[:-1]


@pytest.mark.parametrize("suffix", PACKERS)
def test_compressed_in_several_parts(tmp_path: Path, suffix: str) -> None:
    half = len(LINES.encode()) // 2
    parts = PACKERS[suffix](LINES.encode()[:half]) + PACKERS[suffix](LINES.encode()[half:])
    assert lines_of(file(tmp_path, f"a.txt{suffix}", parts)) == LINES.split("\n")[:-1]


@pytest.mark.parametrize("suffix", PACKERS)
def test_compressed_file_that_is_cut_short(tmp_path: Path, suffix: str) -> None:
    content = PACKERS[suffix](LINES.encode())
    path = file(tmp_path, f"a.tsv{suffix}", content[: len(content) // 2])
    assert "damaged or cut short" in refused(path)


@pytest.mark.parametrize("suffix", PACKERS)
def test_compressed_only_in_name(tmp_path: Path, suffix: str) -> None:
    path = file(tmp_path, f"a.tsv{suffix}", "the cat\til gatto\n")
    assert f"not {suffix[1:]} at all" in refused(path)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    for name in ("a.tsv", "a.tsv.gz", "a.tsv.xz", "a.tsv.zst", "a.parquet", "a.tmx"):
        assert "no such file" in refused(tmp_path / name)
    (tmp_path / "b.tsv").mkdir()
    assert "is a folder" in refused(tmp_path / "b.tsv")


# ---- encodings --------------------------------------------


def test_latin1_names_file_line_and_way_out(tmp_path: Path) -> None:
    src = file(tmp_path, "a.en", "the coffee\n")
    tgt = file(tmp_path, "a.it", "il caff\xe8\n".encode("latin-1"))
    with pytest.raises(UserError) as error:
        collect(read_text_pair(src, tgt))
    assert f"{tgt.absolute()}, line 1: not UTF-8" in str(error.value)
    assert "iconv -f ISO-8859-1 -t UTF-8 a.it" in str(error.value)


def test_latin1_in_the_middle_of_a_big_file(tmp_path: Path) -> None:
    lines = [b"il gatto dorme\tthe cat sleeps"] * 30_000
    lines[20_122] = "il caffè\tthe coffee".encode("latin-1")
    message = refused(file(tmp_path, "a.tsv", b"\n".join(lines)))
    assert "line 20123: not UTF-8" in message


def test_one_broken_line_of_a_utf8_file_is_a_bad_row(tmp_path: Path) -> None:
    lines = ["il caffè\tthe coffee".encode()] * 20_000
    lines[9_999] = "il caffè\tthe coffee".encode("latin-1")
    pairs, rows, bad = read(file(tmp_path, "a.tsv", b"\n".join(lines)))
    assert len(pairs) == 19_999
    assert 10_000 not in rows
    assert [(b.row, b.reason) for b in bad] == [(10_000, "not UTF-8")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_unicode_encodings(tmp_path: Path, encoding: str) -> None:
    content = "the cat sleeps\til gatto dorme\n" * 50
    message = refused(file(tmp_path, "a.tsv", content.encode(encoding)))
    assert "line 1: not UTF-8 text (perhaps UTF-" in message


def test_way_out_for_a_compressed_file(tmp_path: Path) -> None:
    path = file(tmp_path, "a.tsv.gz", gzip.compress("coffee\tcaffè\n".encode("latin-1")))
    command = "gzip -dc a.tsv.gz | iconv -f ISO-8859-1 -t UTF-8 | gzip > new-a.tsv.gz"
    assert command in refused(path)


@pytest.mark.parametrize("encoding", ["cp1252", "iso8859-2", "koi8-r", "shift_jis", "gb18030"])
def test_other_legacy_encodings(tmp_path: Path, encoding: str) -> None:
    word = {"koi8-r": "дом", "shift_jis": "家", "gb18030": "房子", "iso8859-2": "źdźbło"}
    content = f"the house\tcasa\nthe coffee\t{word.get(encoding, 'caffè')}\n"
    message = refused(file(tmp_path, "a.tsv", content.encode(encoding)))
    assert "line 2: not UTF-8" in message


# ---- text pairs -------------------------------------------


def test_text_pair_with_separators_inside_lines(tmp_path: Path) -> None:
    src = file(tmp_path, "a.en", "the cat\u2028sleeps .\nthe dog eats .\n")
    tgt = file(tmp_path, "a.it", "il gatto dorme .\nil cane mangia .\n")
    pairs, rows, _ = collect(read_text_pair(src, tgt))
    assert pairs == [
        ("the cat\u2028sleeps .", "il gatto dorme ."),
        ("the dog eats .", "il cane mangia ."),
    ]
    assert rows == [1, 2]


@pytest.mark.parametrize(("left", "right"), [(3, 2), (2, 3), (0, 1), (20_000, 8_192), (1, 30_000)])
def test_text_pair_of_different_lengths(tmp_path: Path, left: int, right: int) -> None:
    src, tgt = file(tmp_path, "a.en", "x\n" * left), file(tmp_path, "a.it", "y\n" * right)
    with pytest.raises(UserError) as error:
        collect(read_text_pair(src, tgt))
    lines = f"{left:,} line{'s' if left != 1 else ''}"
    assert f"{src.absolute()} has {lines} and" in str(error.value)
    assert f"{tgt.absolute()} has {right:,}: " in str(error.value)


def test_text_pair_drops_a_line_that_is_not_utf8_on_both_sides(tmp_path: Path) -> None:
    src = file(tmp_path, "a.en", "è one\ntwo\nthree\n")
    tgt = file(
        tmp_path, "a.it", "è uno\nd\xf9e\ntre\n".encode("latin-1").replace(b"\xe8", "è".encode())
    )
    pairs, rows, bad = collect(read_text_pair(src, tgt))
    assert pairs == [("è one", "è uno"), ("three", "tre")]
    assert rows == [1, 3]
    assert [b.row for b in bad] == [2]


# ---- TSV and CSV ------------------------------------------


def test_tsv_quotes_and_na_are_text(tmp_path: Path) -> None:
    content = '"Yes\tSì\nNo.\tNo.\nGood"\tBene\nNA\tnull\n\'\t""\nNaN\tN/A\n'
    pairs, _, bad = read(file(tmp_path, "a.tsv", content))
    assert pairs == [tuple(line.split("\t")) for line in content.split("\n")[:-1]]
    assert not bad


def test_tsv_wrong_field_counts_are_named(tmp_path: Path) -> None:
    content = "the cat\til gatto\nthe dog\teats\til cane\nthe fox\na\tb\n\t\n\n"
    pairs, rows, bad = read(file(tmp_path, "a.tsv", content))
    assert pairs == [("the cat", "il gatto"), ("a", "b"), ("", ""), ("", "")]
    assert rows == [1, 4, 5, 6]
    assert [(b.row, b.reason) for b in bad] == [
        (2, "3 fields where 2 are expected"),
        (3, "1 field where 2 are expected"),
    ]


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("id\tit\ten", EN_IT),
        ("id\ttgt\tsrc", EN_IT),
        ("id\ttarget\tsource", EN_IT),
        ("id\tItalian\tEnglish", Columns("en", "it", "English", "Italian")),
    ],
)
def test_tsv_header_names_the_columns(tmp_path: Path, header: str, columns: Columns) -> None:
    pairs, rows, bad = read(file(tmp_path, "a.tsv", f"{header}\n7\tuno\tone\n8\tdue\n"), columns)
    assert (pairs, rows) == ([("one", "uno")], [2])
    assert [b.row for b in bad] == [3]


def test_tsv_without_the_column_asked_for(tmp_path: Path) -> None:
    path = file(tmp_path, "a.tsv", "English\tItaliano\none\tuno\n")
    message = refused(path, Columns("en", "it", "English", "Italian"))
    assert "found: English, Italiano" in message


def test_csv_follows_rfc_4180(tmp_path: Path) -> None:
    content = (
        'id,en,it\r\n1,"Hello, world","Ciao, mondo"\r\n2,"He said ""hi""",plain\r\n'
        '3,"two\r\nlines",NA\r\n4,a "quoted" word,null\r\n5,,""\r\n6,"x\u2028y",lone\rreturn\r\n'
    )
    pairs, rows, bad = read(file(tmp_path, "a.csv", content))
    assert pairs == [
        ("Hello, world", "Ciao, mondo"),
        ('He said "hi"', "plain"),
        ("two\nlines", "NA"),
        ('a "quoted" word', "null"),
        ("", ""),
        ("x\u2028y", "lone\rreturn"),
    ]
    assert rows == [2, 3, 4, 6, 7, 8]
    assert not bad


@pytest.mark.parametrize(
    ("line", "at", "other"),
    [
        ('"the cat,il gatto', 4, '"the fox, ""red""",la volpe'),  # then text after a closing quote
        ('"the cat,il gatto', 4, '"the fox","la volpe"'),
        ('"the cat,il gatto', 4, 'the fox,la volpe"'),  # or too few fields
        ('the cat,"il gatto', 3, '"the dog",il cane'),
    ],
)
def test_a_csv_quote_that_closes_at_that_of_another_row_costs_its_own_row_alone(
    tmp_path: Path, line: str, at: int, other: str
) -> None:
    rows = ["en,it", line, "the dog,il cane", "the fox,la volpe", "yes,sì"]
    rows[at - 1] = other
    pairs, numbers, bad = read(file(tmp_path, "a.csv", "\n".join(rows) + "\n"))
    assert numbers == [3, 4, 5]
    assert pairs[-1] == ("yes", "sì")
    assert [(b.row, b.reason) for b in bad] == [
        (2, "a quotation mark that opens here and does not close")
    ]


def test_csv_broken_rows_are_named(tmp_path: Path) -> None:
    content = 'en,it\na,b,c\n"x" y,z\none\ngood,buono\n'
    pairs, _, bad = read(file(tmp_path, "a.csv", content))
    assert pairs == [("good", "buono")]
    assert [(b.row, b.reason) for b in bad] == [
        (2, "3 fields where 2 are expected"),
        (3, "text after a closing quotation mark"),
        (4, "1 field where 2 are expected"),
    ]


@pytest.mark.parametrize("after", [5, 500])
def test_csv_quote_that_never_closes_eats_one_row_only(tmp_path: Path, after: int) -> None:
    rest = "".join(f"word {n},parola {n}\n" for n in range(after))
    pairs, _, bad = read(file(tmp_path, "a.csv", f'en,it\n"Yes,Sì\n{rest}'))
    assert [b.row for b in bad] == [2]
    assert "does not close" in bad[0].reason
    assert pairs == [(f"word {n}", f"parola {n}") for n in range(after)]


@pytest.mark.parametrize("header", ["English,Italian", "en;it", "en\tit"])
def test_csv_without_the_columns(tmp_path: Path, header: str) -> None:
    message = refused(file(tmp_path, "a.csv", f"{header}\na,b\n"))
    assert "line 1: no columns en and it" in message
    assert header.split(",")[0] in message
    assert ("separated by commas" in message) == ("," not in header)
    assert ("has this one none" in message) == ("," in header)


@given(
    st.lists(
        st.tuples(st.text(st.characters(codec="utf-8"), max_size=12), st.text(max_size=12)),
        min_size=1,
        max_size=6,
    )
)
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_csv_reads_what_python_writes(tmp_path: Path, pairs: list[tuple[str, str]]) -> None:
    """Any text, for as long as a row is not blank and CR is not before LF or at an end."""
    pairs = [(f"a{x}b".replace("\r", " "), f"a{y}b".replace("\r", " ")) for x, y in pairs]
    sink = io.StringIO(newline="")
    csv.writer(sink, lineterminator="\r\n").writerows([("en", "it"), *pairs])
    path = file(tmp_path, "a.csv", sink.getvalue())
    assert read(path)[0] == pairs


# ---- JSON lines -------------------------------------------


def test_json_flat_and_nested(tmp_path: Path) -> None:
    rows = [
        {"translation": {"en": "one", "it": "uno"}, "id": 1},
        {"en": "two", "it": "due"},
        {"translation": {"it": "tre\n\u2028", "en": None}},
    ]
    content = "".join(
        json.dumps(row, ensure_ascii=bool(n % 2)) + "\n" for n, row in enumerate(rows)
    )
    pairs, numbers, bad = read(file(tmp_path, "a.jsonl", content))
    assert pairs == [("one", "uno"), ("two", "due"), (None, "tre\n\u2028")]
    assert numbers == [1, 2, 3]
    assert not bad


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{broken", "not JSON"),
        ("[1, 2]", "not a JSON object"),
        ('"text"', "not a JSON object"),
        ('{"en": "one"}', "no it"),
        ('{"translation": {"it": "uno"}}', "no en"),
        ('{"en": "one", "it": 1}', "it is not text but 1"),
        ('{"en": ["one"], "it": "uno"}', 'en is not text but ["one"]'),
        ('{"en": "\\ud800", "it": "uno"}', "half of a surrogate pair"),
        ("[" * 100_000, "not JSON"),
        ('{"en": ' + "9" * 5000 + "}", "not JSON"),
    ],
)
def test_json_bad_rows(tmp_path: Path, line: str, reason: str) -> None:
    content = '{"en": "one", "it": "uno"}\n' + line + '\n\n{"en": "two", "it": "due"}\n'
    pairs, numbers, bad = read(file(tmp_path, "a.jsonl", content))
    assert pairs == [("one", "uno"), (None, None), ("two", "due")]
    assert numbers == [1, 3, 4]
    assert [b.row for b in bad] == [2]
    assert reason in bad[0].reason


def test_json_without_the_columns(tmp_path: Path) -> None:
    path = file(tmp_path, "a.jsonl", '{"id": 1, "translation": {"fr": "a", "de": "b"}}\n' * 3)
    assert "no columns en and it; found: id, fr, de" in refused(path)
    path = file(tmp_path, "b.jsonl", '{"english": "a", "italian": "b"}\n' * 3)
    assert "found: english, italian" in refused(path)
    assert read(path, Columns("en", "it", "english", "italian"))[0] == [("a", "b")] * 3


def test_json_array_is_explained(tmp_path: Path) -> None:
    path = file(tmp_path, "a.json", json.dumps([{"en": "a", "it": "b"}], indent=1))
    assert "jq -c '.[]' a.json" in refused(path)


def test_documents_are_read_with_their_pairs(tmp_path: Path) -> None:
    columns = Columns("en", "it", group="book")
    jsonl = file(tmp_path, "a.jsonl", '{"en": "a", "it": "b", "book": 7}\n{"en": "a", "it": "b"}\n')
    tsv = file(tmp_path, "a.tsv", "book\ten\tit\n7\ta\tb\n")
    table = pa.Table.from_pylist([{"en": "a", "it": "b", "book": 7}])
    pq.write_table(table, tmp_path / "a.parquet")
    for path in (jsonl, tsv, tmp_path / "a.parquet"):
        batch = next(iter(READERS[path.suffix][0](path, columns)))
        assert batch.groups == ["7"]
    assert read(jsonl, columns)[2][0].reason == "no book"
    assert "data.group_by" in refused(file(tmp_path, "b.tsv", "a\tb\n"), columns)
    assert "data.group_by" in refused(file(tmp_path, "b.csv", "en,it\na,b\n"), columns)
    assert "data.group_by" in refused(file(tmp_path, "b.tmx", "<tmx/>"), columns)


# ---- parquet ----------------------------------------------


def test_parquet_types_of_text(tmp_path: Path) -> None:
    texts = ["NA", None, "è\u2028"]
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
    for kind in kinds:
        column = pa.array(texts, pa.string()).cast(kind)
        pq.write_table(pa.table({"en": column, "it": column}), tmp_path / "a.parquet")
        assert read(tmp_path / "a.parquet")[0] == [(t, t) for t in texts]


def test_parquet_nested_over_many_batches(tmp_path: Path) -> None:
    rows = [{"id": n, "translation": {"en": f"e{n}", "it": f"i{n}"}} for n in range(20_000)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=700)
    pairs, numbers, _ = read(tmp_path / "a.parquet")
    assert pairs == [(f"e{n}", f"i{n}") for n in range(20_000)]
    assert numbers == list(range(1, 20_001))


def test_parquet_that_cannot_be_read(tmp_path: Path) -> None:
    assert "not parquet" in refused(file(tmp_path, "a.parquet", "the cat\til gatto\n"))
    pq.write_table(pa.table({"en": [1], "it": ["uno"]}), tmp_path / "b.parquet")
    assert "column en holds int64, expected text" in refused(tmp_path / "b.parquet")
    pq.write_table(pa.table({"de": ["eins"], "it": ["uno"]}), tmp_path / "c.parquet")
    assert "found: de, it" in refused(tmp_path / "c.parquet")
    assert "unpack the .gz first" in refused(file(tmp_path, "d.parquet.gz", b""))


# ---- TMX --------------------------------------------------

TMX = """<?xml version="1.0" encoding="{encoding}"?>
<tmx version="1.4"><header srclang="en"/><body>
<tu><tuv xml:lang="en-US"><seg>It's <bpt i="1">&lt;b&gt;</bpt>late</seg></tuv>
<tuv xml:lang="IT"><seg>È tardi &amp; buio</seg></tuv></tu>
<tu><tuv xml:lang="it"><seg>uno</seg></tuv><tuv xml:lang="de"><seg>eins</seg></tuv></tu>
<tu><tuv lang="en"><seg>plain</seg></tuv><tuv xml:lang="en-GB"><seg>British</seg></tuv>
<tuv xml:lang="it-CH"><seg>due\nrighe</seg></tuv></tu>
</body></tmx>"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_tmx(tmp_path: Path, encoding: str) -> None:
    path = file(tmp_path, "a.tmx", TMX.format(encoding=encoding).encode(encoding))
    pairs, numbers, bad = read(path)
    assert pairs == [
        ("It's <b>late", "È tardi & buio"),
        (None, "uno"),
        ("plain", "due\nrighe"),
    ]
    assert numbers == [1, 2, 3]
    assert not bad


def test_tmx_with_a_namespace_and_many_units(tmp_path: Path) -> None:
    unit = (
        '<tu><tuv xml:lang="en"><seg>a{0}</seg></tuv><tuv xml:lang="it"><seg>b{0}</seg></tuv></tu>'
    )
    units = "".join(unit.format(n) for n in range(10_000))
    path = file(tmp_path, "a.tmx", f'<tmx xmlns="http://x/tmx14"><body>{units}</body></tmx>')
    assert read(path)[0] == [(f"a{n}", f"b{n}") for n in range(10_000)]


def test_tmx_that_cannot_be_read(tmp_path: Path) -> None:
    whole = TMX.format(encoding="utf-8")
    assert "line 4: not well-formed" in refused(file(tmp_path, "a.tmx", whole[: whole.index("È")]))
    message = refused(file(tmp_path, "b.tmx", whole), Columns("en", "fr"))
    assert "languages found: IT, de, en, en-GB, en-US, it, it-CH" in message


def test_tmx_does_not_expand_a_bomb_or_read_other_files(tmp_path: Path) -> None:
    secret = file(tmp_path, "secret.txt", "secret")
    head = f'<!DOCTYPE tmx [<!ENTITY x SYSTEM "file://{secret}">]>'
    unit = '<tu><tuv xml:lang="en"><seg>&x;</seg></tuv><tuv xml:lang="it"><seg>b</seg></tuv></tu>'
    path = file(tmp_path, "a.tmx", f"{head}<tmx><body>{unit}</body></tmx>")
    assert "secret" not in refused(path).replace(str(tmp_path), "")


# ---- anything at all --------------------------------------

SIDE = st.text(st.characters(codec="utf-8"), max_size=15)


@given(st.lists(st.tuples(SIDE, SIDE), max_size=8))
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_text_comes_back_unshifted(tmp_path: Path, pairs: list[tuple[str, str]]) -> None:
    whole = [{"en": a, "it": b} for a, b in pairs]
    path = file(tmp_path, "a.jsonl", "".join(json.dumps(row) + "\n" for row in whole))
    assert read(path)[0] == pairs
    if pairs:
        pq.write_table(pa.Table.from_pylist(whole), tmp_path / "a.parquet")
        assert read(tmp_path / "a.parquet")[0] == pairs
    # In text files LF ends a line and CR before it goes, as does a mark before the first; many
    # zeros are UTF-16.
    gone = str.maketrans("\n\0", "  ")
    kept = [tuple(f".{side}.".translate(gone) for side in pair) for pair in pairs]
    sides = [file(tmp_path, f"a.{n}", "".join(f"{p[n]}\n" for p in kept)) for n in (0, 1)]
    assert collect(read_text_pair(*sides))[0] == kept
    tabless = [tuple(side.replace("\t", " ") for side in pair) for pair in kept]
    tsv = file(tmp_path, "a.tsv", "".join("\t".join(pair) + "\n" for pair in tabless))
    assert read(tsv)[0] == tabless


@given(st.binary(max_size=200), st.sampled_from(sorted(READERS)))
@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes, form: str) -> None:
    path = file(tmp_path, f"a{form}", content)
    with contextlib.suppress(UserError):  # no other error is right
        pairs, rows, _ = read(path)
        assert len(pairs) == len(rows)
