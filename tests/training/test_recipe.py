"""The choice of a recipe: what is known goes in, a config comes out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mt.config_file import dump_settings
from mt.errors import UserError
from mt.strict_yaml import parse_yaml
from mt.training.recipe import (
    HELD_OUT,
    MOST_PASSES,
    SIZES,
    WARMUP,
    Facts,
    Side,
    choose,
    flops_a_token,
)

EN = Side("en", words=12, characters=62, long=240, types=20_000, script="Latin")
IT = Side("it", words=12, characters=64, long=250, types=30_000, script="Latin")
JA = Side("ja", words=1, characters=25, long=100, types=26_000, script="Kana")
TWO_CORES = 55e9  # operations a second
CARD = 50e12


def facts(pairs: int = 26_000, minutes: float = 30.0, **changes: Any) -> Facts:
    data = {"source": "c.tsv", "src": "en", "tgt": "it"}
    known: dict[str, Any] = {
        "name": "c-en-it", "data": data, "pairs": pairs, "given": (), "src": EN, "tgt": IT,
        "gpu": False, "flops": TWO_CORES, "minutes": minutes, "seconds": 60 * minutes - 10,
    }  # fmt: skip
    return Facts(**{**known, **changes})


def test_the_recipe_for_26_000_pairs_two_cores_and_half_an_hour() -> None:
    config, why = choose(facts())
    assert (config.tokenizer.kind, config.tokenizer.shared) == ("bpe", True)
    assert 4_000 <= config.tokenizer.vocab_size <= 8_000
    assert (config.model.d_model, config.model.depth) == (256, (2, 2))
    assert config.model.tie_embeddings == "decoder"
    assert config.training.minutes == 30
    assert config.training.epochs is None
    assert config.training.max_epochs is None
    assert config.training.schedule == "linear"
    assert config.decoding.beam_size == 5
    assert config.data.valid_size == config.data.test_size == HELD_OUT
    # Such a model reads the text some five times on such a machine.
    steps = config.training.warmup_steps / WARMUP
    target = steps * (config.training.batch_tokens or 0) / 25_000 / IT.pieces
    assert 3 < target < 8
    assert "about 5" in " ".join(why) or "about 4" in " ".join(why)


def test_operations_of_a_token_are_six_for_each_weight() -> None:
    from mt.config import ModelConfig
    from mt.model.build import build_model

    for size in SIZES[:2]:
        settings = ModelConfig(
            num_layers=size.layers, d_model=size.d_model, num_heads=size.num_heads,
            d_ff=size.d_ff, tie_embeddings="all",
        )  # fmt: skip
        model = build_model(settings, 500, 500)
        matrices = sum(p.numel() for p in model.parameters() if p.dim() > 1)
        assert flops_a_token(size, 500) == 6 * matrices


def test_more_passes_mean_more_dropout_and_more_pairs_mean_more_pieces() -> None:
    dropout = [choose(facts(p)).config.model.dropout for p in (3_000, 10_000, 100_000)]
    assert dropout == sorted(dropout, reverse=True)
    assert dropout[0] > dropout[-1]
    pieces = [choose(facts(p)).config.tokenizer.vocab_size for p in (100, 5_000, 60_000, 10**7)]
    assert pieces == sorted(set(pieces))


def test_a_gpu_gets_a_big_model_for_a_big_corpus_only() -> None:
    card = {"gpu": True, "flops": CARD}
    big = choose(facts(1_000_000, **card)).config
    assert big.model.d_model == 512
    assert (big.training.batch_tokens or 0) >= 4096
    assert choose(facts(26_000, **card)).config.model.d_model == 256
    assert choose(facts(1_000_000)).config.model.d_model < 512  # two cores have no time for it


@pytest.mark.parametrize("pairs", [1, 2, 19, 20, 100, 5_000, 26_000, 10**6, 10**8])
@pytest.mark.parametrize("minutes", [0.5, 10.0, 600.0])
@pytest.mark.parametrize("flops", [1e9, CARD])
@pytest.mark.parametrize("tgt", [IT, JA], ids=["it", "ja"])
def test_every_choice_is_a_config_that_can_be_read_back(
    pairs: int, minutes: float, flops: float, tgt: Side
) -> None:
    given = replace(facts(pairs, minutes, flops=flops, tgt=tgt), seconds=minutes * 60 - 20)
    config, why = choose(given)
    training = config.training
    held = int(config.data.valid_size + config.data.test_size)
    assert held < pairs
    assert (held == 0) == (pairs < 20)
    assert config.data.max_length <= (training.batch_tokens or 0)
    if training.max_epochs:
        assert training.epochs == MOST_PASSES
    assert 3 <= len(why) <= 8
    back, _ = parse_yaml(dump_settings(config), "recipe")
    assert type(config).model_validate(back) == config


def test_few_pairs_are_not_read_for_ever() -> None:
    config, why = choose(facts(100))
    assert config.training.epochs == MOST_PASSES
    assert any(line.startswith("time  ") for line in why)
    assert config.model.dropout == 0.3


def test_one_pair_is_trained_on_without_validation() -> None:
    config, why = choose(facts(1))
    assert config.data.valid_size == config.data.test_size == 0
    assert "validation   none: there are too few pairs to hold some out" in why


def test_a_short_time_has_few_sentences_to_translate_or_none() -> None:
    samples = [choose(facts(minutes=m)).config.training.bleu_samples for m in (0.2, 2.0, 60.0)]
    assert samples == sorted(samples)
    assert samples[0] == 0
    assert samples[-1] == 200


def test_no_more_sentences_are_translated_than_are_held_out() -> None:
    for pairs in (100, 400, 26_000):
        config, _ = choose(facts(pairs, minutes=60))
        assert config.training.bleu_samples == min(200, config.data.valid_size) > 0


def test_text_without_spaces_has_more_pieces() -> None:
    one, other = (choose(facts(src=EN, tgt=side)).config for side in (IT, JA))
    assert other.tokenizer.vocab_size == 2 * one.tokenizer.vocab_size


def test_splits_of_its_own_stay_and_nothing_is_taken_from_the_pairs() -> None:
    given = facts(600, given=("valid", "test"))
    assert choose(given).config.model.d_model == 256
    assert choose(facts(505)).config.model.d_model == 128  # under 500, with those held out


def test_what_the_user_sets_lies_over_the_recipe_and_is_told() -> None:
    config, why = choose(facts(overrides=("model.d_model=64", "training.lr=0.5")))
    assert (config.model.d_model, config.training.lr) == (64, 0.5)
    assert "64 wide" in why[0]
    with pytest.raises(UserError, match=r"--set model.depth=3: model.depth is not a key"):
        choose(facts(overrides=("model.depth=3",)))


def test_no_time_at_all_is_said() -> None:
    with pytest.raises(UserError, match=r"--minutes 0.05 is too little: .* take 4 seconds"):
        choose(facts(minutes=0.05, seconds=-1.0))


def test_a_handful_of_steps_is_warned_of() -> None:
    said = [" ".join(choose(facts(minutes=m)).why) for m in (1.0, 30.0)]
    assert "teach next to nothing: give more time" in said[0]
    assert "teach next to nothing" not in said[1]
