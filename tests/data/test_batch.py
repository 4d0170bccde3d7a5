"""Batches, datasets and masks: what is in them, place by place."""

from __future__ import annotations

import datasets
import numpy as np
import pytest
import torch

from mt.config import TokenizerConfig
from mt.data.batch import collate, frame
from mt.data.dataset import BilingualDataset, encode_split
from mt.data.masks import attention_mask, causal_mask, padding_mask
from mt.text.tokenizer import EOS_ID, PAD_ID, SOS_ID, UNK_ID, Tokenizer

P, S, E = PAD_ID, SOS_ID, EOS_ID


def encoded(pairs: list[tuple[list[int], list[int]]]) -> datasets.Dataset:
    ids = datasets.Sequence(datasets.Value("int32"))
    return datasets.Dataset.from_dict(
        {"src_ids": [a for a, _ in pairs], "tgt_ids": [b for _, b in pairs]},
        features=datasets.Features({"src_ids": ids, "tgt_ids": ids}),
    )


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
    parts = [encoded([([i], [i + 100])]) for i in range(4, 9)]
    dataset = BilingualDataset(datasets.concatenate_datasets(parts), max_length=10)
    assert [dataset[i].src[1] for i in range(5)] == [4, 5, 6, 7, 8]
    assert [dataset[i].tgt_out[0] for i in range(5)] == [104, 105, 106, 107, 108]


def test_unknown_shares() -> None:
    dataset = BilingualDataset(encoded([([UNK_ID, 5], [6]), ([7, 8], [UNK_ID])]), max_length=10)
    assert dataset.unknown_shares() == (0.25, 0.5)


def test_encode_split_gives_what_the_tokenizers_give() -> None:
    config = TokenizerConfig(min_frequency=1)
    rows = {"src": ["a cat", "a dog here"], "tgt": ["un gatto", "un cane qui"], "row": [1, 2]}
    src = Tokenizer.train(rows["src"], "en", config)
    tgt = Tokenizer.train(rows["tgt"], "it", config)
    ids = encode_split(datasets.Dataset.from_dict(rows), src, tgt)
    assert ids["src_ids"][:] == [src.encode(text) for text in rows["src"]]
    assert ids["tgt_ids"][:] == [tgt.encode(text) for text in rows["tgt"]]


def test_encoding_is_kept_and_made_anew_for_another_tokenizer(
    tmp_path: pytest.TempPathFactory,
) -> None:
    text = datasets.Dataset.from_dict({"src": ["a cat"] * 3, "tgt": ["un gatto"] * 3})
    text.save_to_disk(str(tmp_path))
    split = datasets.load_from_disk(str(tmp_path))
    tgt = Tokenizer.train(split["tgt"], "it", TokenizerConfig(min_frequency=1))
    for words in (["a cat"], ["cat"]):
        src = Tokenizer.train(words, "en", TokenizerConfig(min_frequency=1))
        for _ in range(2):
            assert encode_split(split, src, tgt)["src_ids"][0] == src.encode("a cat")


def test_empty_split() -> None:
    dataset = BilingualDataset(encoded([]), max_length=10)
    assert len(dataset) == 0
    assert dataset.lengths.shape == (0, 2)
    assert dataset.lengths.dtype == np.int32
