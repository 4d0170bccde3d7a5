"""Batches, datasets and masks: what is in them, place by place."""

from __future__ import annotations

import tempfile
from pathlib import Path

import datasets
import numpy as np
import pyarrow as pa
import pytest
import torch

from mt.config import TokenizerConfig
from mt.data import encode as encode_module
from mt.data.batch import collate
from mt.data.dataset import BilingualDataset, ResampledDataset
from mt.data.encode import IDS, EncodedSplit, encode_split, open_encoded
from mt.data.frame import frame
from mt.data.masks import attention_mask, causal_mask, padding_mask
from mt.text.tokenizer import EOS_ID, PAD_ID, SOS_ID, UNK_ID, Tokenizer

P, S, E = PAD_ID, SOS_ID, EOS_ID


def encoded(*parts: list[tuple[list[int], list[int]]]) -> EncodedSplit:
    """Pairs of ids as `encode_split` gives them; each part a piece of the file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        with pa.ipc.new_stream(str(Path(folder) / "ids.arrow"), IDS) as out:
            for part in parts:
                columns = [
                    pa.array([pair[side] for pair in part], IDS.types[side]) for side in (0, 1)
                ]
                out.write_batch(pa.record_batch(columns, schema=IDS))
        lengths = [[len(a) + 2, len(b) + 2] for part in parts for a, b in part]
        np.array(lengths, np.uint16).tofile(Path(folder) / "lengths.u16")
        return open_encoded(Path(folder), len(lengths))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="tells no resident memory")
def test_reading_at_random_does_not_make_the_ids_resident() -> None:
    ids = list(range(4, 104))
    dataset = BilingualDataset(encoded([(ids, ids)] * 100_000), max_length=200)  # 80 MB
    chance, most = np.random.default_rng(0), 0
    before = resident_file_pages()
    for _ in range(300):
        batch = dataset.batch(chance.integers(len(dataset), size=20))
        assert batch.src[:, 1].tolist() == [4] * 20
        most = max(most, resident_file_pages() - before)
    assert most < 20 * 2**20


def resident_file_pages() -> int:
    """Bytes of mapped files that this process has in memory."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("RssFile:")[1].split()[0])


def test_collate_frames_shifts_and_pads() -> None:
    batch = collate([frame([5, 6]), frame([7])], [frame([8]), frame([9, 10, 11])])
    assert batch.src.tolist() == [[S, 5, 6, E], [S, 7, E, P]]
    assert batch.tgt_in.tolist() == [[S, 8, P, P], [S, 9, 10, 11]]
    assert batch.tgt_out.tolist() == [[8, E, P, P], [9, 10, 11, E]]
    assert batch.src_padding is not None
    assert batch.src_padding.tolist() == [[False] * 4, [False, False, False, True]]
    assert batch.real.tolist() == [0, 1, 4, 5, 6, 7]
    assert batch.tokens == 6
    assert (batch.places, batch.real_places) == (16, 13)


def test_a_batch_of_one_length_has_no_padding_mask() -> None:
    assert collate([frame([5]), frame([6])], [frame([7]), frame([8])]).src_padding is None


def test_masks() -> None:
    assert padding_mask(torch.tensor([[4, 5]]), P) is None
    mask = padding_mask(torch.tensor([[4, P]]), P)
    assert mask is not None
    assert mask.tolist() == [[False, True]]
    looked_at = attention_mask(mask)
    assert looked_at is not None
    assert looked_at.shape == (1, 1, 1, 2)
    assert looked_at.flatten().tolist() == [True, False]
    whole = causal_mask(3, 3, torch.device("cpu")).tolist()
    assert whole == [[True, False, False], [True, True, False], [True, True, True]]
    assert causal_mask(2, 4, torch.device("cpu")).tolist() == [[True] * 3 + [False], [True] * 4]


def test_dataset_leaves_out_what_is_too_long_and_says_which() -> None:
    pairs = [([5], [6]), ([5] * 9, [6]), ([7, 8], [9]), ([5], [6] * 9)]
    dataset = BilingualDataset(encoded(pairs), max_length=10)
    assert dataset.too_long.tolist() == [1, 3]
    assert dataset.lengths.tolist() == [[3, 3], [4, 3]]
    src, tgt_in, tgt_out = dataset[1]
    assert src.tolist() == [S, 7, 8, E]
    assert tgt_in.tolist() == [S, 9]
    assert tgt_out.tolist() == [9, E]
    # The limit counts SOS and EOS: one token more a side and all four fit.
    assert len(BilingualDataset(encoded(pairs), max_length=11)) == 4


def test_dataset_reads_across_the_chunks_of_a_table() -> None:
    parts = [[([i], [i + 100])] for i in range(4, 9)]
    dataset = BilingualDataset(encoded(*parts), max_length=10)
    assert [dataset[i].src[1] for i in range(5)] == [4, 5, 6, 7, 8]
    assert [dataset[i].tgt_out[0] for i in range(5)] == [104, 105, 106, 107, 108]


def test_unknown_shares() -> None:
    dataset = BilingualDataset(encoded([([UNK_ID, 5], [6]), ([7, 8], [UNK_ID])]), max_length=10)
    assert dataset.unknown_shares() == (0.25, 0.5)


ROWS = {"src": ["a cat", "a dog here", "a"], "tgt": ["un gatto", "un cane qui", "una"]}


def on_disk(folder: Path, rows: dict[str, list[str]]) -> datasets.Dataset:
    datasets.Dataset.from_dict(rows).save_to_disk(str(folder))
    return datasets.load_from_disk(str(folder))


def trained(rows: dict[str, list[str]]) -> tuple[Tokenizer, Tokenizer]:
    config = TokenizerConfig(min_frequency=1)
    return (
        Tokenizer.train(rows["src"], "en", config),
        Tokenizer.train(rows["tgt"], "it", config),
    )


@pytest.mark.parametrize("form", ["memory", "file", "selected"])
def test_encoding_gives_what_the_tokenizers_give(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encode_module, "ROWS_AT_ONCE", 2)
    rows = ROWS
    split = datasets.Dataset.from_dict(rows) if form == "memory" else on_disk(tmp_path, rows)
    if form == "selected":
        split = split.select([2, 0])
        rows = {side: [texts[2], texts[0]] for side, texts in ROWS.items()}
    src, tgt = trained(ROWS)
    got = encode_split(split, src, tgt)
    assert [got.src[i].tolist() for i in range(len(got.src))] == list(map(src.encode, rows["src"]))
    assert [got.tgt[i].tolist() for i in range(len(got.tgt))] == list(map(tgt.encode, rows["tgt"]))
    assert got.lengths.tolist() == [
        [len(got.src[i]) + 2, len(got.tgt[i]) + 2] for i in range(len(got.lengths))
    ]


@pytest.mark.parametrize("longest", [253, 254, 300, 70_000])
def test_lengths_take_a_byte_where_that_is_enough(
    longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encode_module, "MILLION", 2)
    rows = {"src": ["a"] * 4 + ["a " * longest], "tgt": ["un"] * 5}
    found = encode_split(datasets.Dataset.from_dict(rows), *trained(ROWS)).lengths
    assert found.dtype == (np.uint8 if longest + 2 < 256 else np.uint16)
    assert found.tolist() == [[3, 3]] * 4 + [[min(longest + 2, 2**16 - 1), 3]]
    dataset = BilingualDataset(encode_split(datasets.Dataset.from_dict(rows), *trained(ROWS)), 254)
    assert dataset.too_long.tolist() == ([] if longest + 2 <= 254 else [4])


def test_encoding_is_made_once_and_anew_for_another_tokenizer_or_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encode_module, "cache_folder", lambda: tmp_path / "cache" / "corpora")
    split = on_disk(tmp_path / "one", ROWS)
    src, tgt = trained(ROWS)
    for _ in range(2):
        encode_split(split, src, tgt)
        assert len(list((tmp_path / "cache" / "mt-ids").iterdir())) == 1
    smaller, _ = trained({"src": ["a"], "tgt": ["un"]})
    assert encode_split(split, smaller, tgt).src[0].tolist() == smaller.encode("a cat")
    changed = on_disk(tmp_path / "two", {**ROWS, "src": ["a dog", *ROWS["src"][1:]]})
    assert encode_split(changed, src, tgt).src[0].tolist() == src.encode("a dog")
    assert len(list((tmp_path / "cache" / "mt-ids").iterdir())) == 3


@pytest.mark.parametrize("file", ["ids.arrow", "lengths.u16"])
@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_damaged_ids_are_made_again(
    file: str, damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encode_module, "cache_folder", lambda: tmp_path / "cache" / "corpora")
    split = on_disk(tmp_path / "one", ROWS)
    src, tgt = trained(ROWS)
    encode_split(split, src, tgt)
    (path,) = (tmp_path / "cache" / "mt-ids").glob(f"*/{file}")
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    again = encode_split(split, src, tgt)
    assert [again.src[i].tolist() for i in range(3)] == list(map(src.encode, ROWS["src"]))


def test_resampling_is_a_function_of_seed_epoch_and_row() -> None:
    words = ["internationally", "unbelievable", "incomprehensible nationality"] * 20
    rows = {"src": words, "tgt": words[::-1]}
    config = TokenizerConfig(kind="bpe", vocab_size=340, min_frequency=1, bpe_dropout=0.5)
    pair = Tokenizer.train(words, "en", config), Tokenizer.train(words, "it", config)
    split = datasets.Dataset.from_dict(rows)

    def batch(seed: int, epoch: int, indices: list[int]) -> list[list[int]]:
        dataset = ResampledDataset(
            encode_split(split, *pair), 100, text=split, tokenizers=pair, dropout=0.5, seed=seed
        )
        return [[i for i in row if i != P] for row in dataset.batch(indices, epoch).src.tolist()]

    first = batch(1, 0, [0, 1, 2])
    assert batch(1, 0, [0, 1, 2]) == first
    assert batch(1, 0, [2, 0, 1]) == [first[2], first[0], first[1]]
    assert batch(1, 1, [0, 1, 2]) != first
    assert batch(2, 0, [0, 1, 2]) != first
    assert [pair[0].decode(ids) for ids in first] == words[:3]


def test_empty_split() -> None:
    src, tgt = trained(ROWS)
    nothing = datasets.Dataset.from_dict({"src": [], "tgt": []})
    dataset = BilingualDataset(encode_split(nothing, src, tgt), max_length=10)
    assert len(dataset) == 0
    assert dataset.lengths.shape == (0, 2)
