"""The models: against torch's own layers, against themselves on two paths, and invariants."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mt.config import ModelConfig
from mt.model.build import build_model, count_parameters
from mt.model.embedding import sinusoids
from mt.model.interface import TranslationModel
from mt.model.torch_backed import TorchTransformer
from mt.model.transformer import Transformer

V_SRC, V_TGT = 23, 29
NORMS, ACTIVATIONS = ("pre", "post"), ("relu", "gelu")


def small(**changes: object) -> ModelConfig:
    settings = {"num_layers": 2, "d_model": 16, "num_heads": 4, "d_ff": 32, "dropout": 0.0}
    return ModelConfig.model_validate({**settings, **changes})


def both_implementations() -> list[ModelConfig]:
    return [
        small(implementation=kind, norm=norm, attention_bias=True)
        for kind, norm in itertools.product(("native", "torch"), NORMS)
    ]


def batch(seed: int = 0, lengths: tuple[int, ...] = (7, 4, 5)) -> tuple[Tensor, Tensor, Tensor]:
    """Source (B, S) with padding, its padding mask, and target (B, T)."""
    generator = torch.Generator().manual_seed(seed)
    src = torch.randint(4, V_SRC, (len(lengths), max(lengths)), generator=generator)
    padding = torch.arange(max(lengths))[None, :] >= torch.tensor(lengths)[:, None]
    tgt = torch.randint(4, V_TGT, (len(lengths), 6), generator=generator)
    return src.masked_fill(padding, 1), padding, tgt


def perturbed(model: TranslationModel) -> TranslationModel:
    """The model with every parameter random, norms and biases too, so that none is neutral."""
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return model.eval()


def copy_weights(native: Transformer, backed: TorchTransformer) -> None:
    """Puts the native model's weights where torch's layers keep theirs."""
    backed.src_embedding.load_state_dict(native.src_embedding.state_dict())
    backed.tgt_embedding.load_state_dict(native.tgt_embedding.state_dict())
    backed.projection.load_state_dict(native.projection.state_dict())
    for mine, theirs in zip(native.encoder, backed.encoder.layers, strict=True):
        _copy_self(mine.attention, theirs.self_attn)
        _copy_rest(mine, theirs, ("norm1", "norm2"))
    for mine, theirs in zip(native.decoder, backed.decoder.layers, strict=True):
        _copy_self(mine.attention, theirs.self_attn)
        cross = mine.cross_attention
        theirs.multihead_attn.load_state_dict(
            {
                "in_proj_weight": torch.cat((cross.query.weight, cross.key_value.weight)),
                "in_proj_bias": torch.cat((cross.query.bias, cross.key_value.bias)),
                "out_proj.weight": cross.output.weight,
                "out_proj.bias": cross.output.bias,
            }
        )
        _copy_rest(mine, theirs, ("norm1", "norm2", "norm3"))
    for mine, theirs in (
        (native.encoder_norm, backed.encoder.norm),
        (native.decoder_norm, backed.decoder.norm),
    ):
        if isinstance(mine, nn.LayerNorm):
            theirs.load_state_dict(mine.state_dict())


def _copy_self(mine: nn.Module, theirs: nn.MultiheadAttention) -> None:
    fused = mine.query_key_value
    theirs.load_state_dict(
        {
            "in_proj_weight": fused.weight,
            "in_proj_bias": fused.bias,
            "out_proj.weight": mine.output.weight,
            "out_proj.bias": mine.output.bias,
        }
    )


def _copy_rest(mine: nn.Module, theirs: nn.Module, norms: tuple[str, ...]) -> None:
    theirs.linear1.load_state_dict(mine.feed_forward[0].state_dict())
    theirs.linear2.load_state_dict(mine.feed_forward[3].state_dict())
    for residual, name in zip(mine.residuals, norms, strict=True):
        getattr(theirs, name).load_state_dict(residual.norm.state_dict())


@pytest.mark.parametrize(("norm", "activation"), list(itertools.product(NORMS, ACTIVATIONS)))
def test_native_and_torch_layers_agree_on_copied_weights(norm: str, activation: str) -> None:
    shape = {"norm": norm, "activation": activation, "attention_bias": True}
    native = perturbed(build_model(small(**shape), V_SRC, V_TGT))
    backed = build_model(small(implementation="torch", **shape), V_SRC, V_TGT).eval()
    assert isinstance(native, Transformer)
    assert isinstance(backed, TorchTransformer)
    copy_weights(native, backed)
    src, padding, tgt = batch()
    torch.testing.assert_close(
        native(src, padding, tgt), backed(src, padding, tgt), atol=1e-5, rtol=0
    )
    assert count_parameters(native) == count_parameters(backed)


@pytest.mark.parametrize("norm", NORMS)
def test_watched_attention_of_both_implementations_agrees(norm: str) -> None:
    native = perturbed(build_model(small(norm=norm, attention_bias=True), V_SRC, V_TGT))
    backed = build_model(
        small(implementation="torch", norm=norm, attention_bias=True), V_SRC, V_TGT
    ).eval()
    assert isinstance(native, Transformer)
    assert isinstance(backed, TorchTransformer)
    copy_weights(native, backed)
    src, padding, tgt = batch()
    seen = []
    for model in (native, backed):
        state = model.start(model.encode(src, padding), padding, watch=True)
        parts = []
        for step in tgt.split((3, 1, 2), dim=1):
            model.advance(step, state)
            assert state.attention is not None
            parts.append(state.attention)
        seen.append(torch.cat(parts, dim=3))
    assert seen[0].shape == (3, 2, 4, 6, 7)  # pairs, layers, heads, target, source
    torch.testing.assert_close(seen[0], seen[1], atol=1e-5, rtol=0)
    torch.testing.assert_close(seen[0].sum(-1), torch.ones(3, 2, 4, 6))
    assert (seen[0][1, ..., 4:] == 0).all()  # padding of the second source


def test_attention_without_biases_equals_the_formula_written_out() -> None:
    model = perturbed(build_model(small(num_layers=1), V_SRC, V_TGT))
    assert isinstance(model, Transformer)
    attention = model.encoder[0].attention
    src, padding, _ = batch()
    x = model.src_embedding(src)  # (B, S, D)
    got = attention(x, ~padding[:, None, None, :])
    query, key, value = (x @ attention.query_key_value.weight.T).chunk(3, dim=-1)
    mixed = torch.zeros_like(x)
    for head in range(4):
        part = slice(4 * head, 4 * head + 4)
        scores = query[..., part] @ key[..., part].transpose(1, 2) / math.sqrt(4)
        scores = scores.masked_fill(padding[:, None, :], -torch.inf)
        mixed[..., part] = scores.softmax(-1) @ value[..., part]
    torch.testing.assert_close(got, mixed @ attention.output.weight.T)


@pytest.mark.parametrize("config", both_implementations(), ids=str)
def test_a_later_target_token_never_changes_an_earlier_logit(config: ModelConfig) -> None:
    model = perturbed(build_model(config, V_SRC, V_TGT))
    src, padding, tgt = batch()
    before = model(src, padding, tgt)
    for position in range(1, tgt.size(1)):
        changed = tgt.clone()
        changed[:, position:] = 4 + (changed[:, position:] + 1) % (V_TGT - 4)
        after = model(src, padding, changed)
        torch.testing.assert_close(after[:, :position], before[:, :position], atol=1e-6, rtol=0)
        assert not torch.allclose(after[:, position], before[:, position], atol=1e-4)


@pytest.mark.parametrize("config", both_implementations(), ids=str)
def test_padding_changes_nothing(config: ModelConfig) -> None:
    model = perturbed(build_model(config, V_SRC, V_TGT))
    src, _, tgt = batch(lengths=(5, 5))
    alone = model(src, None, tgt)
    wide = F.pad(src, (0, 4), value=1)
    padding = torch.zeros_like(wide, dtype=torch.bool)
    padding[:, 5:] = True
    longer = F.pad(tgt, (0, 3), value=1)
    padded = model(wide, padding, longer)[:, : tgt.size(1)]
    torch.testing.assert_close(padded, alone, atol=1e-5, rtol=0)


@pytest.mark.parametrize("config", both_implementations(), ids=str)
@pytest.mark.parametrize("steps", [(1, 1, 1, 1, 1, 1), (3, 2, 1)], ids=str)
def test_step_by_step_equals_the_whole_prefix(config: ModelConfig, steps: tuple[int, ...]) -> None:
    model = perturbed(build_model(config, V_SRC, V_TGT))
    src, padding, tgt = batch()
    state = model.start(model.encode(src, padding), padding)
    parts = [model.decode(part, state) for part in tgt.split(steps, dim=1)]
    torch.testing.assert_close(torch.cat(parts, 1), model(src, padding, tgt), atol=1e-5, rtol=0)


@pytest.mark.parametrize("config", both_implementations(), ids=str)
def test_reordered_state_goes_on_as_the_rows_that_were_picked(config: ModelConfig) -> None:
    model = perturbed(build_model(config, V_SRC, V_TGT))
    src, padding, tgt = batch()
    rows = torch.tensor([2, 0, 2])
    state = model.start(model.encode(src, padding), padding)
    model.decode(tgt[:, :3], state)
    state.reorder(rows)
    got = model.decode(tgt[rows, 3:], state)
    whole = model(src[rows], padding[rows], tgt[rows])[:, 3:]
    torch.testing.assert_close(got, whole, atol=1e-5, rtol=0)


@pytest.mark.parametrize("config", both_implementations(), ids=str)
def test_hypotheses_of_a_sentence_go_on_each_after_its_own_tokens(config: ModelConfig) -> None:
    """40 steps, in each of which rows change places within their sentence; one sentence leaves."""
    model = perturbed(build_model(config, V_SRC, V_TGT))
    src, padding, _ = batch()
    generator = torch.Generator().manual_seed(1)
    said = torch.empty(9, 0, dtype=torch.long)  # three sentences, three rows of each
    state = model.start(model.encode(src, padding), padding, watch=True, beams=3)
    for step in range(40):
        new = torch.randint(4, V_TGT, (len(said), 1), generator=generator)
        said = torch.cat((said, new), dim=1)
        logits = model.decode(new, state)
        rows = torch.randint(0, 3, (len(said),), generator=generator)
        rows += torch.arange(len(said)) // 3 * 3
        if step == 20:
            rows = rows[[0, 1, 2, 6, 7, 8]]
            state.reorder(rows)
            src, padding = src[[0, 2]], padding[[0, 2]]
        else:
            state.follow(rows)
        if step in (0, 15, 16, 17, 39):
            where = torch.arange(len(src)).repeat_interleave(3)
            whole = model(src[where], padding[where], said)[:, -1:]
            torch.testing.assert_close(logits, whole, atol=1e-5, rtol=0)
            assert state.attention is not None
            assert state.attention.shape == (len(said), 2, 4, 1, 7)
        said = said[rows]


def test_reference_recipe_has_75_165_631_parameters() -> None:
    assert count_parameters(build_model(ModelConfig(), 15_698, 22_463, init=False)) == 75_165_631


@pytest.mark.parametrize(("tie", "fewer"), [("decoder", 1), ("all", 2)])
def test_tied_embeddings_are_one_matrix(tie: str, fewer: int) -> None:
    free = build_model(small(), V_TGT, V_TGT)
    tied = build_model(small(tie_embeddings=tie), V_TGT, V_TGT)
    assert count_parameters(free) - count_parameters(tied) == fewer * V_TGT * 16
    assert tied.projection.weight is tied.tgt_embedding.weight


def test_weights_are_a_function_of_the_seed() -> None:
    first, again, other = (build_model(small(), V_SRC, V_TGT, seed=s) for s in (1, 1, 2))
    for a, b in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(first.projection.weight, other.projection.weight)


@pytest.mark.parametrize("kind", ["native", "torch"])
@pytest.mark.parametrize("init", ["xavier_normal", "xavier_uniform"])
def test_each_fused_matrix_starts_with_the_spread_of_a_square_one(kind: str, init: str) -> None:
    config = small(d_model=128, implementation=kind, attention_bias=True, init=init)
    model = build_model(config, V_SRC, V_TGT)
    weight = (
        model.encoder[0].attention.query_key_value.weight
        if isinstance(model, Transformer)
        else model.encoder.layers[0].self_attn.in_proj_weight
    )
    expected = math.sqrt(2 / (128 + 128))  # Glorot and Bengio 2010, equation 16
    for part in weight.chunk(3):
        assert part.std().item() == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("kind", ["native", "torch"])
@pytest.mark.parametrize("tie", ["none", "all"])
def test_a_unit_embedding_gives_each_token_values_of_variance_one(kind: str, tie: str) -> None:
    settings = {"d_model": 128, "implementation": kind, "attention_bias": True}
    config = small(**settings, tie_embeddings=tie, embedding_init="unit")
    model = build_model(config, 1000, 1000).eval()
    ids = torch.arange(1000)[:, None]
    for embedding in (model.src_embedding, model.tgt_embedding):
        token = embedding(ids) - sinusoids(1, 128)
        assert token.std().item() == pytest.approx(1, rel=0.01)
    if tie == "none":  # all else is as it was
        glorot = build_model(config.model_copy(update={"embedding_init": "matrix"}), 1000, 1000)
        assert model.projection.weight.equal(glorot.projection.weight)


def test_positions_are_those_of_the_paper() -> None:
    table = sinusoids(50, 8)
    for position, i in itertools.product((0, 1, 17, 49), range(4)):
        angle = position / 10000 ** (2 * i / 8)
        assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
        assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_positions_go_on_beyond_the_table() -> None:
    embedding = build_model(small(), V_SRC, V_TGT).src_embedding.eval()
    ids = torch.full((1, 1), 5)
    far = embedding(ids, offset=5000) - embedding(ids, offset=0)
    torch.testing.assert_close(far[0, 0], sinusoids(5001, 16)[5000] - sinusoids(1, 16)[0])


def test_dropout_is_off_in_evaluation_and_on_in_training() -> None:
    model = build_model(small(dropout=0.5), V_SRC, V_TGT)
    src, padding, tgt = batch()
    model.eval()
    assert torch.equal(model(src, padding, tgt), model(src, padding, tgt))
    model.train()
    assert not torch.equal(model(src, padding, tgt), model(src, padding, tgt))


def test_memory_is_not_changed_by_decoding() -> None:
    model = perturbed(build_model(small(), V_SRC, V_TGT))
    src, padding, tgt = batch()
    memory = model.encode(src, padding)
    before = memory.clone()
    model.decode(tgt, model.start(memory, padding))
    assert torch.equal(memory, before)
