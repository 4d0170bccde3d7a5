"""The config: every mistake has its message, all at once; and what is right is read as meant."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mt.config import Config, Interval, parse_interval
from mt.config_file import config_from_dict, differences, dump_config, load_config
from mt.errors import UserError
from tests.conftest import ROOT, toy_config

BASE = "name: toy\ndata:\n  source: p.jsonl\n  src: en\n  tgt: it\n"  # line 6 comes next
KNOWN_MODEL_KEYS = (
    "implementation, num_layers, encoder_layers, decoder_layers, d_model, num_heads, d_ff, "
    "dropout, norm, activation, attention_bias, tie_embeddings, init, embedding_init"
)


def load(folder: Path, text: str, *overrides: str) -> Config:
    file = folder / "c.yaml"
    file.write_text(text, "utf-8")
    return load_config(file, overrides)


def message(folder: Path, text: str, *overrides: str) -> str:
    """What is said of a config, without the name of its file."""
    with pytest.raises(UserError) as refused:
        load(folder, text, *overrides)
    return str(refused.value).replace(f"{folder / 'c.yaml'}: ", "", 1)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # Keys that are not there: the nearest name, or the section that has the key.
        ("trainig:\n  lr: 1", "line 6: trainig is not a key; did you mean training?"),
        (
            "training:\n  num_epoch: 50",
            "line 7: training.num_epoch is not a key; did you mean epochs?",
        ),
        ("training:\n  steps: 5", "line 7: training.steps is not a key; did you mean max_steps?"),
        (
            "training:\n  warmup: 5",
            "line 7: training.warmup is not a key; did you mean warmup_steps?",
        ),
        ("training:\n  opt: adam", "line 7: training.opt is not a key; did you mean optimizer?"),
        ("d_model: 64", "line 6: d_model is not a key; did you mean model.d_model?"),
        ("lr: 1e-3", "line 6: lr is not a key; did you mean training.lr?"),
        ("model:\n  lr: 1", "line 7: model.lr is not a key; did you mean training.lr?"),
        ("model: {zzz: 1}", f"line 6: model.zzz is not a key; known here: {KNOWN_MODEL_KEYS}"),
        (
            "training:\n  keep: {lst: 3}",
            "line 7: training.keep.lst is not a key; did you mean last?",
        ),
        (
            "training:\n  early_stopping:\n    metrik: loss",
            "line 8: training.early_stopping.metrik is not a key; did you mean metric?",
        ),
        ("1: 2", "line 6: 1 (1): expected a name as the key"),
        # Types: nothing is turned into something else.
        ("model:\n  d_model: '64'", "line 7: model.d_model (64): expected a whole number"),
        ("model:\n  d_model: 64.5", "line 7: model.d_model (64.5): expected a whole number"),
        ("model:\n  d_model: true", "line 7: model.d_model (true): expected a whole number"),
        ("model:\n  d_model:", "line 7: model.d_model (null): expected a whole number"),
        ("training:\n  lr: abc", "line 7: training.lr (abc): expected a number"),
        ("training:\n  lr: .inf", "line 7: training.lr (inf): expected a finite number"),
        ("training:\n  lr: 1e999", "line 7: training.lr (inf): expected a finite number"),
        ("training:\n  lr: .nan", "line 7: training.lr (nan): expected a finite number"),
        (
            "model:\n  attention_bias: yes",
            "line 7: model.attention_bias (yes): expected true or false",
        ),
        ("device: 0", "line 6: device (0): expected text; put it in quotes"),
        ("training: 3", "line 6: training (3): expected a section of `key: value` lines"),
        ("training:", "line 6: training (null): expected a section of `key: value` lines"),
        (
            "training: {early_stopping: yes}",
            "line 6: training.early_stopping (yes): expected a section of `key: value` lines",
        ),
        ("training:\n  betas: 0.9", "line 7: training.betas (0.9): expected a list"),
        # Choices.
        (
            "model:\n  norm: pos",
            "line 7: model.norm (pos): expected pre or post; did you mean post?",
        ),
        ("model:\n  norm: 3", "line 7: model.norm (3): expected pre or post"),
        (
            "training: {early_stopping: {metric: ble}}",
            "line 6: training.early_stopping.metric (ble): expected loss, bleu or chrf; "
            "did you mean bleu?",
        ),
        # Bounds.
        ("model:\n  d_model: 0", "line 7: model.d_model (0): must be greater than 0"),
        ("model:\n  dropout: 1.0", "line 7: model.dropout (1): must be less than 1"),
        ("model:\n  dropout: -0.1", "line 7: model.dropout (-0.1): must be 0 or more"),
        ("training:\n  lr: 0", "line 7: training.lr (0): must be greater than 0"),
        ("training:\n  betas: [0.9]", "line 7: training.betas ([0.9]): expected 2 values"),
        ("training:\n  betas: [0.9, 2]", "line 7: training.betas (2): must be less than 1"),
        ("seed: 4294967296", "line 6: seed (4294967296): must be less than 4294967296"),
        # Forms.
        ("device: gpu", "line 6: device (gpu): expected auto, cpu, cuda, cuda:N or mps"),
        *(
            (
                f"training:\n  validate_every: {value}",
                f"line 7: training.validate_every ({value}): expected a number of steps or epochs, "
                'as in "500 steps" or "1 epoch"',
            )
            for value in ("often", "0 steps", "1.5", "true", "-1", "2 days")
        ),
        # Between settings.
        (
            "model:\n  d_model: 30\n  num_heads: 4",
            "line 7: model.d_model (30) must be divisible by model.num_heads (4); "
            "nearest: 28 or 32",
        ),
        (
            "model:\n  num_heads: 4\n  d_model: 3",
            "line 8: model.d_model (3) must be divisible by model.num_heads (4); nearest: 4",
        ),
        (
            "model:\n  d_model: 9\n  num_heads: 3",
            "line 7: model.d_model (9) must be even: positions are pairs of sine and cosine",
        ),
        (
            "model: {implementation: torch}",
            "line 6: model.attention_bias must be true with model.implementation torch: its "
            "attention has biases",
        ),
        (
            "training:\n  batch_size: 8\n  batch_tokens: 9",
            "line 8: training.batch_tokens and training.batch_size are both given; set one of "
            "them to null",
        ),
        (
            "training: {schedule: inverse_sqrt}",
            "line 6: training.warmup_steps must be 1 or more with schedule inverse_sqrt, which "
            "falls from its end",
        ),
        (
            "training: {weight_decay: 0.1}",
            "line 6: training.weight_decay (0.1) needs training.optimizer adamw or muon",
        ),
        (
            "training:\n  optimizer: mun",
            "line 7: training.optimizer (mun): expected adam, adamw or muon; did you mean muon?",
        ),
        (
            "training: {optimizer: adamw, muon_lr: 0.02}",
            "line 6: training.muon_lr (0.02) needs training.optimizer muon (it is adamw)",
        ),
        (
            "training:\n  max_steps: 400\n  warmup_steps: 400",
            "line 8: training.warmup_steps (400) must be less than training.max_steps (400): the "
            "learning rate would not get to its height",
        ),
        ("training: {ema: 1}", "line 6: training.ema (1): must be less than 1"),
        ("training: {ema: 0}", "line 6: training.ema (0): must be greater than 0"),
        (
            "training: {average: {last: 1}}",
            "line 6: training.average.last (1): must be 2 or more",
        ),
        *(
            (
                f"training: {{average: {value}}}",
                "line 6: training.average needs one of last and best, as in {last: 5}",
            )
            for value in ("{}", "{last: 2, best: 2}")
        ),
        *(
            (
                f"training:\n  average: {{{which}: 5}}\n  keep: {{last: 4, best: 4}}",
                f"line 7: training.average.{which} (5) needs as many checkpoints, and "
                f"training.keep.{which} is 4: raise that to 5, or lower this",
            )
            for which in ("last", "best")
        ),
        (
            "training:\n  bleu_samples: 0\n  early_stopping: {metric: bleu}",
            "line 8: training.early_stopping.metric (bleu) needs training.bleu_samples of 1 or "
            "more",
        ),
    ],
)
def test_each_mistake_is_named_with_its_line_and_the_way_out(
    tmp_path: Path, lines: str, expected: str
) -> None:
    assert message(tmp_path, BASE + lines + "\n") == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("src: en", "src: false", "line 4: data.src (false): expected text; put it in quotes"),
        ("src: en", "src: ../en", "line 4: data.src (../en): expected a language code: letters, "
         "digits, dash, underscore"),
        ("tgt: it", "tgt: en", "line 5: data.tgt is the same as data.src (en); translation needs "
         "two"),
        ("  src: en\n", "", "data.src is missing"),
        ("  source: p.jsonl\n", "", "data.source is missing: a Hub id, a file, or phrasebook (the "
         "built-in corpus)"),
        *(
            (
                "name: toy",
                f"name: {name}",
                f"line 1: name ({name}): expected a plain folder name: letters, digits, dot, dash "
                "and underscore",
            )
            for name in ("../../x", "/x", "a/b", "..", ".hidden", "a b", "-x", r"a\b")
        ),
    ],
)  # fmt: skip
def test_names_and_languages(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert message(tmp_path, BASE.replace(old, new)) == expected


def test_all_mistakes_at_once_in_the_order_of_their_lines(tmp_path: Path) -> None:
    text = BASE + (
        "training:\n  lr: -1\n  optimiser: adam\nmodel:\n  norm: no\n  d_model: 30\nseed: x\n"
        "tokenizer: {shared: true}\n"
    )
    assert message(tmp_path, text).splitlines() == [
        "6 mistakes",
        "  line 7: training.lr (-1): must be greater than 0",
        "  line 8: training.optimiser is not a key; did you mean optimizer?",
        "  line 10: model.norm (no): expected pre or post",
        "  line 11: model.d_model (30) must be divisible by model.num_heads (8); nearest: 24 or 32",
        "  line 12: seed (x): expected a whole number",
        "  line 13: tokenizer.shared needs tokenizer.kind bpe or unigram (it is word), or be false",
    ]


def test_a_mistake_between_settings_is_not_blamed_on_a_setting_that_is_wrong_itself(
    tmp_path: Path,
) -> None:
    text = BASE + "model:\n  d_model: 30\n  num_heads: x\n"
    assert message(tmp_path, text) == "line 8: model.num_heads (x): expected a whole number"


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("lr=3", "lr is not a key; did you mean training.lr?"),
        ("training.lrr=3", "training.lrr is not a key; did you mean lr?"),
        ("training.lr=abc", "training.lr (abc): expected a number"),
        ("training.lr=", "training.lr (null): expected a number"),
        ("training.lr=1e-4=2", "training.lr (1e-4=2): expected a number"),
        ("training=3", "training (3): expected a section of `key: value` lines"),
        ("name=../x", "name (../x): expected a plain folder name: letters, digits, dot, dash and "
         "underscore"),
        ("data.tgt=en", "data.tgt is the same as data.src (en); translation needs two"),
        ("model.d_model=30", "model.d_model (30) must be divisible by model.num_heads (8); "
         "nearest: 24 or 32"),
    ],
)  # fmt: skip
def test_overrides_name_themselves(tmp_path: Path, override: str, expected: str) -> None:
    assert message(tmp_path, BASE, override) == f"--set {override}: {expected}"


@pytest.mark.parametrize("override", ["training.lr", "=3", "training lr=3", "training..lr=3", ""])
def test_overrides_that_are_none(tmp_path: Path, override: str) -> None:
    assert message(tmp_path, BASE, override) == (
        f"--set {override}: expected section.key=value, as in --set training.lr=1e-4"
    )


@pytest.mark.parametrize(
    ("override", "start"),
    [
        ("data.source=[", "--set data.source=[, line 1: not valid YAML: expected the node"),
        ("seed={a: 1, a: 2}", "--set seed={a: 1, a: 2}, line 1: a is given twice"),
        ("seed=!!python/name:os.system", "--set seed=!!python/name:os.system, line 1: not valid"),
    ],
)
def test_overrides_that_are_not_yaml(tmp_path: Path, override: str, start: str) -> None:
    assert message(tmp_path, BASE, override).startswith(start)


def test_overrides_are_laid_over_the_file_the_last_one_counts(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        BASE + "training: {lr: 1e-3}\n",
        "training.lr=1",
        "training.lr=2e-4",
        "training.betas=[0.8, 0.9]",
        "training.keep={last: 3, best: 2}",
        "training.early_stopping.patience=9",
        "data.source=a=b.jsonl",
        "data.tgt=no",
        "model.encoder_layers=2",
    )
    assert config.training.lr == 2e-4
    assert config.training.betas == [0.8, 0.9]
    assert (config.training.keep.last, config.training.keep.best) == (3, 2)
    assert config.training.early_stopping is not None
    assert config.training.early_stopping.patience == 9
    assert config.data.source == "a=b.jsonl"
    assert config.data.tgt == "no"
    assert config.model.depth == (2, 6)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("1e-4", 1e-4), ("1", 1.0), ("2E+2", 200.0), (".5", 0.5), ("1_0", None), ("0x1", None)],
)
def test_numbers_as_people_write_them(tmp_path: Path, written: str, meant: float | None) -> None:
    text = BASE + f"training:\n  lr: {written}\n"
    if meant is None:
        expected = f"line 7: training.lr ({written}): expected a number"
        assert message(tmp_path, text) == expected
    else:
        assert load(tmp_path, text).training.lr == meant


@pytest.mark.parametrize("code", ["no", "on", "off", "yes", "y", "n", "zh-Hans", "pt_BR"])
def test_language_codes_are_text(tmp_path: Path, code: str) -> None:
    assert load(tmp_path, BASE.replace("tgt: it", f"tgt: {code}")).data.tgt == code


def test_the_file_gives_the_name_where_there_is_none(tmp_path: Path) -> None:
    assert load(tmp_path, BASE.replace("name: toy\n", "")).name == "c"
    file = tmp_path / "not a name.yaml"
    file.write_text(BASE.replace("name: toy\n", ""))
    with pytest.raises(UserError, match=r"name \(not a name\): expected a plain folder name"):
        load_config(file)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "the config is empty"),
        ("# nothing but a comment\n", "the config is empty"),
        ("- a\n", "expected `key: value` lines, found a list"),
        ("train this\n", "expected `key: value` lines, found a single value"),
    ],
)
def test_files_that_hold_no_config(tmp_path: Path, content: str, expected: str) -> None:
    assert message(tmp_path, content) == expected


def test_what_is_said_of_an_interval_can_be_read_again() -> None:
    assert parse_interval("500") == Interval(500, "step")
    for interval in (Interval(1, "epoch"), Interval(2, "step"), Interval(30, "epoch")):
        assert parse_interval(str(interval)) == interval


CHANGED = toy_config(
    data__source=[{"source": "a.jsonl", "weight": 2.5}, "b.jsonl"],
    data__subset="no",
    training__betas=[0.8, 0.99],
    training__early_stopping={"metric": "chrf", "patience": 2},
    training__keep={"last": 3, "best": 2},
    training__average={"last": 3},
    training__ema=0.99,
    training__optimizer="muon",
    training__muon_lr=0.01,
    training__clip_norm=None,
    training__lr=1e-05,
    model__dropout=0.0,
)


@pytest.mark.parametrize("data", [toy_config(), CHANGED], ids=["toy", "changed"])
def test_a_config_dumped_and_read_again_is_the_same(tmp_path: Path, data: dict[str, Any]) -> None:
    config = config_from_dict(data, "test")
    again = load(tmp_path, dump_config(config))
    assert again == config
    assert differences(config, again) == []


@pytest.mark.parametrize("file", sorted((ROOT / "configs").glob("**/*.y*ml")), ids=lambda f: f.name)
def test_every_config_that_ships_loads_and_survives_being_dumped(
    tmp_path: Path, file: Path
) -> None:
    config = load_config(file)
    assert config.name == file.stem
    assert load(tmp_path, dump_config(config)) == config


def test_differences_name_settings_old_and_new() -> None:
    old, new = (config_from_dict(toy_config(**c), "test") for c in (
        {"training__lr": 1e-3},
        {"training__lr": 5e-4, "model__d_model": 64, "training__early_stopping": {"patience": 3}},
    ))  # fmt: skip
    assert differences(old, new) == [
        "model.d_model: 32 -> 64",
        "training.early_stopping.metric: null -> loss",
        "training.early_stopping.min_delta: null -> 0",
        "training.early_stopping.patience: null -> 3",
        "training.lr: 0.001 -> 0.0005",
    ]


def test_the_schema_describes_every_setting() -> None:
    schema = Config.model_json_schema()
    json.dumps(schema)
    sections = [schema, *schema["$defs"].values()]
    assert {"ModelConfig", "TrainingConfig", "KeepConfig"} <= schema["$defs"].keys()
    for section in sections:
        assert section["additionalProperties"] is False
        for key, setting in section["properties"].items():
            assert "description" in setting or "$ref" in setting, key


def only_a_config_or_a_user_error(data: Any) -> None:
    try:
        said = "test: " if isinstance(config_from_dict(data, "test"), Config) else ""
    except UserError as error:
        said = str(error)
    assert said.startswith("test: ")


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=4), v, max_size=3)
)
VALID = config_from_dict(toy_config(), "test").model_dump()


def paths(data: dict[str, Any], at: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = []
    for key, value in data.items():
        found.append((*at, key))
        if isinstance(value, dict):
            found += paths(value, (*at, key))
    return found


@settings(max_examples=150, deadline=None)
@given(changes=st.lists(st.tuples(st.sampled_from(paths(VALID)), values), min_size=1, max_size=4))
def test_any_value_anywhere_gives_a_config_or_a_message(
    changes: list[tuple[tuple[str, ...], Any]],
) -> None:
    data = json.loads(json.dumps(VALID))
    for (*parents, last), value in changes:
        section = data
        for parent in parents:
            if not isinstance(section.get(parent), dict):
                section[parent] = {}
            section = section[parent]
        section[last] = value
    only_a_config_or_a_user_error(data)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(VALID)) | st.text(max_size=5), values, max_size=5))
def test_any_data_gives_a_config_or_a_message(data: dict[str, Any]) -> None:
    only_a_config_or_a_user_error(data)


@settings(max_examples=150, deadline=None)
@given(
    st.text(max_size=40)
    | st.tuples(st.just(BASE), st.text(max_size=20)).map("".join)
    | st.text("ab:-?[]{},#&*!|>'\"%@ \t\n0.", max_size=25).map(BASE.__add__)
)
def test_any_text_gives_a_config_or_a_message(text: str) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        file = Path(folder) / "c.yaml"
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            said = "c.yaml" if isinstance(load_config(file), Config) else ""
        except UserError as error:
            said = str(error)
        assert "c.yaml" in said
        assert not re.search(r"Traceback|<class", said)


def test_the_resolved_config_is_plain_yaml() -> None:
    config = config_from_dict(CHANGED, "test")
    assert yaml.safe_load(dump_config(config)) == config.model_dump()


def test_what_a_section_that_is_none_lacks_is_no_further_mistake(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("name: a\ndata: 7\n", "utf-8")
    with pytest.raises(UserError) as error:
        load_config(tmp_path / "a.yaml")
    said = "line 2: data (7): expected a section of `key: value` lines"
    assert str(error.value).endswith(said)
    assert "missing" not in str(error.value)


IN_FILE = f"{BASE}training:\n  keep: {{last: 4}}\n  average:\n    last: 4\n"
MANY = "(5) needs as many checkpoints, and training.keep.last is 4: raise that to 5, or lower this"
FEW = "(4) needs as many checkpoints, and training.keep.last is 2: raise that to 4, or lower this"


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (
            ["training.average.last=5"],
            f"--set training.average.last=5: training.average.last {MANY}",
        ),
        # A section that was laid over the file has no line any more.
        (
            ["training.average={last: 5}"],
            f"--set training.average={{last: 5}}: training.average.last {MANY}",
        ),
        (
            ["training.keep.last=2"],
            f"line 9 and --set training.keep.last=2: training.average.last {FEW}",
        ),
        (["training.keep={}"], f"line 9 and --set training.keep={{}}: training.average.last {FEW}"),
        (
            ["model.num_heads=7"],
            "--set model.num_heads=7: model.d_model (512) must be divisible by model.num_heads "
            "(7); nearest: 511 or 518",
        ),
        (["training={lr: x}"], "--set training={lr: x}: training.lr (x): expected a number"),
        (["training.keep=3"], "--set training.keep=3: training.keep (3): expected a section of"),
    ],
    ids=" ".join,
)
def test_values_that_do_not_go_together_are_told_where_each_is_from(
    tmp_path: Path, overrides: list[str], expected: str
) -> None:
    assert message(tmp_path, IN_FILE, *overrides).startswith(expected)
