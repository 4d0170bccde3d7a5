"""The config: every setting with its type, default and meaning.

What a setting does is written where it is used; here is only what it may be. Files are read
in `mt.config_file`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
)

from mt.complaints import in_words

# The keys at fault, first the one to point at, and what is wrong.
Mistake = tuple[tuple[str, ...], str]


class Interval(NamedTuple):
    """Every so many steps or epochs."""

    number: int
    unit: Literal["step", "epoch"]

    def __str__(self) -> str:
        return f"{self.number} {self.unit}{'s' if self.number != 1 else ''}"


def parse_interval(text: str) -> Interval:
    """`Interval` of "500 steps", "1 epoch" or "500"; ValueError for anything else."""
    found = re.fullmatch(r"(\d+)\s*(step|epoch)?s?", text.strip())
    if not found or int(found[1]) < 1:
        raise ValueError('expected a number of steps or epochs, as in "500 steps" or "1 epoch"')
    return Interval(int(found[1]), "epoch" if found[2] == "epoch" else "step")


def _interval_text(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError('expected a number of steps or epochs, as in "500 steps" or "1 epoch"')
    return str(parse_interval(str(value)))


IntervalText = Annotated[
    str,
    BeforeValidator(_interval_text),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": r"^\s*0*[1-9][0-9]*\s*(step|epoch)?s?\s*$"},
                {"type": "integer", "minimum": 1},
            ],
            "examples": ["500 steps", "1 epoch"],
        }
    ),
]
# `true` without quotes is what one writes, and a boolean in YAML.
Casing = Annotated[
    Literal["keep", "lower", "true"],
    BeforeValidator(lambda value: "true" if value is True else value),
    WithJsonSchema({"enum": ["keep", "lower", "true", True]}),
]
Fraction = Annotated[float, Field(ge=0.0, lt=1.0)]
Positive = Annotated[int, Field(gt=0)]
Language = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]


class Section(BaseModel):
    """A part of the config. Unknown keys and wrong types are mistakes; nothing is coerced."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    def mistakes(self) -> Iterator[Mistake]:
        """What is wrong between settings that are each right on their own."""
        yield from ()


class CleaningConfig(Section):
    """Which pairs are left out of training; blank sides always are. Each rule counts what it drops.

    Text is always normalised the same way in training and translation: that is no setting.
    Validation and test files of their own are taken whole: only unreadable and blank rows go.
    """

    max_characters: Positive | None = Field(
        default=5000, description="longest side, in characters; null for no limit"
    )
    max_ratio: float | None = Field(
        default=6.0,
        gt=1,
        description="how many times longer, in characters, one side may be than the other "
        "(60 characters of difference are always allowed); null for no limit",
    )
    identical: bool = Field(
        default=True,
        description="drop untranslated pairs: both sides the same, in six words or more",
    )
    wrong_script: bool = Field(
        default=True,
        description="drop pairs with a side mostly in letters that its language is not written in; "
        "off for languages not in the table of mt/text/scripts.py",
    )
    broken_characters: bool = Field(
        default=True, description="drop pairs with U+FFFD, the mark of a letter that was lost"
    )
    duplicates: bool = Field(
        default=True, description="drop repetitions of a pair: same source and same target text"
    )
    leaks: bool = Field(
        default=False,
        description="drop training pairs whose source text is also in a given valid or test file; "
        "they are counted in the leak report either way",
    )


class SourceConfig(Section):
    """One of several corpora."""

    source: str | None = Field(default=None, description="as data.source")
    src_file: str | None = Field(
        default=None, description="instead of source: source text, a sentence a line"
    )
    tgt_file: str | None = Field(default=None, description="its translation, line for line")
    subset: str | None = Field(default=None, description="as data.subset; that one if not given")
    revision: str | None = Field(default=None, description="as data.revision, for this source")
    weight: float = Field(
        default=1.0,
        gt=0,
        le=1000,
        description="how many times its training pairs are taken: 2 takes each twice, 0.5 takes "
        "half of them, chosen by content",
    )

    def mistakes(self) -> Iterator[Mistake]:
        if (self.src_file is None) != (self.tgt_file is None):
            given, other = ("src", "tgt") if self.tgt_file is None else ("tgt", "src")
            yield (f"{given}_file", f"{other}_file"), f"needs {other}_file beside it"
        elif (self.source is None) == (self.src_file is None):
            yield ("source", "src_file"), "or else src_file with tgt_file must be given"


def _sources(value: Any) -> Any:
    """The items of a list of corpora, checked one by one: a union's own messages mislead."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not value:
        raise ValueError("expected a name, or a list of names and {source: ..., weight: ...}")
    return [_source_item(f"item {number}", item) for number, item in enumerate(value, 1)]


def _source_item(where: str, item: Any) -> Any:
    if isinstance(item, str | SourceConfig):
        return item
    if not isinstance(item, dict):
        raise ValueError(f"{where}: expected a name or {{source: ..., weight: ...}}")
    known = list(SourceConfig.model_fields)
    for key in item:
        if key not in known:
            raise ValueError(f"{where}: {key} is not a key; known here: {', '.join(known)}")
    try:
        found = SourceConfig.model_validate(item)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{where}: {first['loc'][0]} {in_words(first)}") from None
    for keys, message in found.mistakes():
        raise ValueError(f"{where}: {keys[0]} {message}")
    return found


SourceList = Annotated[list[str | SourceConfig], Field(min_length=1)]
Sources = Annotated[str | SourceList, BeforeValidator(_sources)]


class DataConfig(Section):
    """Where the sentence pairs come from."""

    source: Sources | None = Field(
        default=None,
        description="Hub id, local file, common prefix of two text files, folder, or `phrasebook` "
        "(built in); or a list of them, each a name or {source: ..., weight: ...}",
    )
    subset: str | None = Field(
        default=None, description="Hub config name, as en-it; found the other way round too"
    )
    revision: str | None = Field(default=None, description="commit or tag of a Hub data set")
    src: Language = Field(description="source language, as the corpus names it")
    tgt: Language = Field(description="target language, as the corpus names it")
    src_column: str | None = Field(
        default=None, description="column of the source text, if not named after its language"
    )
    tgt_column: str | None = Field(
        default=None, description="column of the target text, if not named after its language"
    )
    train: Sources | None = Field(default=None, description="training files, instead of source")
    valid: Sources | None = Field(
        default=None, description="validation file, taken whole, instead of a split"
    )
    test: Sources | None = Field(
        default=None, description="test file, taken whole, instead of a split"
    )
    valid_size: float = Field(
        default=0.1,
        ge=0,
        description="share of the pairs (under 1) or their number (1 and more); not used where the "
        "corpus has a validation split of its own",
    )
    test_size: float = Field(default=0.0, ge=0, description="the same for the test split")
    group_by: str | None = Field(
        default=None,
        description="column that names the document or book of a pair: none is in two splits",
    )
    max_length: int = Field(
        default=350,
        ge=3,
        description="tokens a side, SOS and EOS included; longer pairs are left out",
    )
    cleaning: CleaningConfig = Field(
        default=CleaningConfig(), description="which pairs are left out"
    )

    def mistakes(self) -> Iterator[Mistake]:
        if self.src == self.tgt:
            yield ("tgt", "src"), f"is the same as data.src ({self.src}); translation needs two"
        if self.source is None and self.train is None:
            yield ("source",), "is missing: a Hub id, a file, or phrasebook (the built-in corpus)"
        if self.source is not None and self.train is not None:
            yield ("train", "source"), "and data.source are both given; keep one of them"
        if (self.src_column is None) != (self.tgt_column is None):
            given, other = ("src", "tgt") if self.tgt_column is None else ("tgt", "src")
            yield (f"{given}_column", f"{other}_column"), f"needs data.{other}_column beside it"
        for key in ("valid_size", "test_size"):
            size = getattr(self, key)
            if size > 1 and size != int(size):
                yield (key,), f"({size}) must be a fraction under 1 or a whole number of pairs"
        fractions = [s for s in (self.valid_size, self.test_size) if s < 1]
        if sum(fractions) >= 1:
            yield (
                ("test_size", "valid_size"),
                f"and data.valid_size together ({sum(fractions):g}) leave nothing to train on",
            )


class TokenizerConfig(Section):
    """How sentences become tokens."""

    kind: Literal["word", "bpe", "unigram"] = Field(
        default="word",
        description="what a token is: a word, or a piece of one (learnt from at most a million "
        "lines a side, evenly spread)",
    )
    min_frequency: Positive = Field(
        default=2,
        description="words (bpe: pairs of pieces) seen less often than this are not learnt",
    )
    vocab_size: int = Field(
        default=30000, ge=5, description="at most so many tokens, the four special ones included"
    )
    shared: bool = Field(
        default=False, description="one vocabulary for both languages; bpe and unigram only"
    )
    bpe_dropout: Fraction = Field(
        default=0.0, description="share of merges left out at random in training; bpe only"
    )
    casing: Casing = Field(
        default="keep",
        description="capitals as written, none (put back in the output), or only those of names",
    )

    def mistakes(self) -> Iterator[Mistake]:
        if self.kind != "bpe" and self.bpe_dropout:
            yield ("bpe_dropout", "kind"), f"needs tokenizer.kind: bpe (it is {self.kind})"
        if self.kind == "word" and self.shared:
            yield (
                ("shared", "kind"),
                "needs tokenizer.kind bpe or unigram (it is word), or be false",
            )
        if self.kind != "word" and self.vocab_size < 300:
            yield (
                ("vocab_size", "kind"),
                f"({self.vocab_size}): must be 300 or more for {self.kind}, of which 260 are the "
                "special tokens and the bytes",
            )


class ModelConfig(Section):
    """The Transformer (Vaswani et al. 2017, section 3)."""

    implementation: Literal["native", "torch"] = Field(
        default="native",
        description="this project's layers, or torch.nn.TransformerEncoder/Decoder",
    )
    num_layers: Positive = Field(default=6, description="layers of encoder and decoder each")
    encoder_layers: Positive | None = Field(default=None, description="instead of num_layers")
    decoder_layers: Positive | None = Field(default=None, description="instead of num_layers")
    d_model: Positive = Field(default=512, description="width of the model")
    num_heads: Positive = Field(default=8, description="attention heads; divides d_model")
    d_ff: Positive = Field(default=2048, description="inner width of the feed-forward layers")
    dropout: Fraction = Field(default=0.1, description="on embeddings, sublayers and attention")
    norm: Literal["pre", "post"] = Field(
        default="pre", description="layer norm before each sublayer, or after its residual sum"
    )
    activation: Literal["relu", "gelu"] = Field(default="relu", description="in the feed-forward")
    attention_bias: bool = Field(default=False, description="biases in the attention projections")
    tie_embeddings: Literal["none", "decoder", "all"] = Field(
        default="none",
        description="share the output layer with the target embedding, or with both embeddings",
    )
    init: Literal["xavier_normal", "xavier_uniform"] = Field(
        default="xavier_normal", description="how matrices start (Glorot and Bengio 2010)"
    )
    embedding_init: Literal["matrix", "unit", "lexicon"] = Field(
        default="matrix",
        description="how embeddings start: as other matrices do; with values of variance "
        "1 / d_model, so that a token weighs as much as its position; or of that length, alike for "
        "tokens that translate each other in the training text",
    )

    @property
    def depth(self) -> tuple[int, int]:
        """Layers of the encoder and of the decoder."""
        return self.encoder_layers or self.num_layers, self.decoder_layers or self.num_layers

    def mistakes(self) -> Iterator[Mistake]:
        d, h = self.d_model, self.num_heads
        if d % h:
            low, high = d // h * h, (d // h + 1) * h
            near = f"{low} or {high}" if low else str(high)
            yield (
                ("d_model", "num_heads"),
                f"({d}) must be divisible by model.num_heads ({h}); nearest: {near}",
            )
        if d % 2:
            yield ("d_model",), f"({d}) must be even: positions are pairs of sine and cosine"
        if self.implementation == "torch" and not self.attention_bias:
            yield (
                ("attention_bias", "implementation"),
                "must be true with model.implementation torch: its attention has biases",
            )


class KeepConfig(Section):
    """Which checkpoints stay on disk."""

    last: Positive = Field(default=2, description="the newest so many")
    best: Annotated[int, Field(ge=0)] = Field(
        default=1, description="the best so many; with 0 the newest one translates"
    )


class AverageConfig(Section):
    """Which checkpoints are averaged at the end of training."""

    last: Annotated[int, Field(ge=2)] | None = Field(default=None, description="the newest so many")
    best: Annotated[int, Field(ge=2)] | None = Field(default=None, description="the best so many")


class EarlyStoppingConfig(Section):
    """Stop when validation no longer improves."""

    metric: Literal["loss", "bleu", "chrf"] = Field(default="loss", description="what to watch")
    patience: Positive = Field(default=5, description="validations without a gain before stopping")
    min_delta: Annotated[float, Field(ge=0)] = Field(default=0.0, description="smallest gain")


class TrainingConfig(Section):
    """How the model is trained."""

    epochs: Positive | None = Field(
        default=None,
        description="passes over the training pairs; 20 if nothing else ends training",
    )
    max_steps: Positive | None = Field(default=None, description="stop after so many updates")
    minutes: float | None = Field(
        default=None,
        gt=0,
        description="wall-clock time of the whole run, from reading to the last file; cosine and "
        "linear then end with it; no two runs are the same to the bit",
    )
    batch_size: Positive | None = Field(
        default=None, description="pairs a step; 8 if batch_tokens is not set either"
    )
    batch_tokens: Positive | None = Field(
        default=None,
        description="instead of batch_size: source or target tokens a step, padding included, "
        "whichever side is longer",
    )
    accumulate: Positive = Field(default=1, description="micro-batches a step")
    init_from: str | None = Field(
        default=None,
        description="a model (its name in weights/, or its folder) whose weights a new run starts "
        "from, by token where vocabularies differ; a run that is resumed goes on as it was",
    )
    optimizer: Literal["adam", "adamw", "muon"] = Field(
        default="adam",
        description="Adam, AdamW, or Muon for hidden matrices and AdamW for the rest",
    )
    lr: float = Field(default=1e-4, gt=0, description="learning rate, at its highest")
    muon_lr: float | None = Field(
        default=None,
        gt=0,
        description="learning rate of Muon's matrices, at its highest; 0.02 if not set",
    )
    betas: Annotated[list[Fraction], Field(min_length=2, max_length=2)] = Field(
        default=[0.9, 0.999], description="Adam's decay rates"
    )
    eps: float = Field(default=1e-9, gt=0, description="Adam's epsilon")
    weight_decay: float = Field(
        default=0.0,
        ge=0,
        description="decay of matrices by AdamW and Muon; norms, biases, embeddings spared",
    )
    schedule: Literal["constant", "inverse_sqrt", "cosine", "linear"] = Field(
        default="constant", description="the learning rate after the warm-up"
    )
    warmup_steps: Annotated[int, Field(ge=0)] = Field(
        default=0, description="steps in which the learning rate rises from 0 to lr"
    )
    label_smoothing: Fraction = Field(
        default=0.1, description="probability mass given to all tokens alike (Szegedy et al. 2016)"
    )
    clip_norm: float | None = Field(
        default=1.0, gt=0, description="largest norm of the gradient; null for no clipping"
    )
    precision: Literal["auto", "fp32", "bf16"] = Field(
        default="auto", description="bf16 autocast on a GPU that has it, else fp32"
    )
    ema: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="decay of a moving average of the weights, as 0.999, which then is what is "
        "validated and translates; null for none",
    )
    validate_every: IntervalText = Field(default="1 epoch", description="N steps or N epochs")
    save_every: IntervalText = Field(default="1 epoch", description="N steps or N epochs")
    log_every: Positive = Field(default=10, description="steps between two points of a curve")
    bleu_samples: Annotated[int, Field(ge=0)] = Field(
        default=200, description="validation sentences decoded for BLEU and chrF; 0 for none"
    )
    keep: KeepConfig = Field(default=KeepConfig(), description="checkpoints that stay")
    average: AverageConfig | None = Field(
        default=None,
        description="checkpoints averaged at the end; the average translates if it is the better",
    )
    early_stopping: EarlyStoppingConfig | None = Field(
        default=None, description="stop when validation no longer improves"
    )

    @property
    def max_epochs(self) -> int | None:
        """The number of epochs after which training ends, None for no limit."""
        ends = self.epochs, self.max_steps, self.minutes
        return 20 if ends == (None, None, None) else self.epochs

    @property
    def matrix_lr(self) -> float:
        """The learning rate of Muon's matrices, at its highest."""
        return 0.02 if self.muon_lr is None else self.muon_lr

    @property
    def pairs_per_batch(self) -> int | None:
        """Pairs in a micro-batch, None if the batch is measured in tokens."""
        return 8 if self.batch_size is None and self.batch_tokens is None else self.batch_size

    def mistakes(self) -> Iterator[Mistake]:
        if self.batch_size is not None and self.batch_tokens is not None:
            yield (
                ("batch_tokens", "batch_size"),
                "and training.batch_size are both given; set one of them to null",
            )
        if self.schedule == "inverse_sqrt" and not self.warmup_steps:
            yield (
                ("warmup_steps", "schedule"),
                "must be 1 or more with schedule inverse_sqrt, which falls from its end",
            )
        if self.max_steps is not None and self.warmup_steps >= self.max_steps:
            yield (
                ("warmup_steps", "max_steps"),
                f"({self.warmup_steps}) must be less than training.max_steps ({self.max_steps}): "
                "the learning rate would not get to its height",
            )
        yield from self._optimizer_mistakes()
        yield from self._average_mistakes()
        stopping = self.early_stopping
        if stopping and not self.keep.best:
            yield (
                ("keep.best", "early_stopping"),
                "(0) keeps no best checkpoint, which is what training.early_stopping is for: set "
                "it to 1 or more",
            )
        if stopping and stopping.metric != "loss" and not self.bleu_samples:
            yield (
                ("early_stopping.metric", "bleu_samples"),
                f"({stopping.metric}) needs training.bleu_samples of 1 or more",
            )

    def _optimizer_mistakes(self) -> Iterator[Mistake]:
        if self.weight_decay and self.optimizer == "adam":
            yield (
                ("weight_decay", "optimizer"),
                f"({self.weight_decay:g}) needs training.optimizer adamw or muon",
            )
        if self.muon_lr is not None and self.optimizer != "muon":
            yield (
                ("muon_lr", "optimizer"),
                f"({self.muon_lr:g}) needs training.optimizer muon (it is {self.optimizer})",
            )

    def _average_mistakes(self) -> Iterator[Mistake]:
        if self.average is None:
            return
        if (self.average.last is None) == (self.average.best is None):
            yield ("average",), "needs one of last and best, as in {last: 5}"
            return
        for which in ("last", "best"):
            wanted, kept = getattr(self.average, which), getattr(self.keep, which)
            if wanted is not None and wanted > kept:
                yield (
                    (f"average.{which}", f"keep.{which}"),
                    f"({wanted}) needs as many checkpoints, and training.keep.{which} is {kept}: "
                    f"raise that to {wanted}, or lower this",
                )


class DecodingConfig(Section):
    """How translations are searched for."""

    beam_size: Positive = Field(
        default=1, description="hypotheses of a sentence that are followed; 1 is greedy search"
    )
    length_penalty: float = Field(
        default=0.6, ge=0, description="how much a beam favours long translations; 0 for not at all"
    )
    length_normalization: Literal["gnmt", "length", "none"] = Field(
        default="gnmt",
        description="log-probabilities are divided by ((5 + length) / 6) ^ length_penalty (Wu et "
        "al. 2016), by length ^ length_penalty, or by nothing",
    )
    patience: float = Field(
        default=2.0,
        ge=1,
        description="a beam is done with a sentence when so many times `beam_size` hypotheses of "
        "it have ended (Kasai et al. 2022)",
    )
    max_length_ratio: float = Field(
        default=2.0,
        gt=0,
        description="longest output: so many times the source, and 10 tokens more",
    )
    no_repeat_ngram: Annotated[int, Field(ge=0)] = Field(
        default=0, description="no run of so many tokens comes twice in an output; 0 for no rule"
    )
    repetition_penalty: float = Field(
        default=1.0,
        ge=1,
        description="what was said is made less likely by this (Keskar et al. 2019); 1 for no rule",
    )


class Config(Section):
    """A whole run: the data, the model, its training, and how it will translate."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="of runs/<name> and weights/<name>"
    )
    seed: Annotated[int, Field(ge=0, lt=2**32)] = Field(
        default=42, description="of initial weights, data order and dropout"
    )
    device: str = Field(
        default="auto",
        pattern=r"^(auto|cpu|mps|cuda(:\d+)?)$",
        examples=["auto", "cpu", "cuda", "cuda:1", "mps"],
        description="what it runs on; auto takes a CUDA GPU if there is one, else the CPU",
    )
    data: DataConfig
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    sections: ClassVar[tuple[str, ...]] = ("data", "tokenizer", "model", "training", "decoding")

    def mistakes(self) -> Iterator[Mistake]:
        for section in self.sections:
            for keys, message in getattr(self, section).mistakes():
                yield tuple(f"{section}.{key}" for key in keys), message
        if self.model.tie_embeddings == "all" and not self.tokenizer.shared:
            yield (
                ("model.tie_embeddings", "tokenizer.shared"),
                "(all) needs tokenizer.shared: true, one vocabulary for both languages",
            )
