"""The HParams page of TensorBoard, as its own reader sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.context import RequestContext
from tensorboard.plugins.base_plugin import TBContext
from tensorboard.plugins.hparams import api_pb2
from tensorboard.plugins.hparams.backend_context import Context
from tensorboard.plugins.hparams.list_session_groups import Handler

from mt.training.ending import finish
from mt.training.hparams import FINAL
from mt.training.run import Run
from tests.conftest import toy_pairs, write_jsonl
from tests.training.test_training import RESUMED, config

# The end comes twice: the run is made longer after its first end.
STOPS = [{"stop": 2}, {"stop": None, "training__epochs": 2}, {"stop": 9}, {"stop": None}]


def train(stop: int | None, **changes: object) -> Run:
    run = Run(config(**{**RESUMED, **changes}))
    for _ in run.trainer.fit():
        run.trainer.stop_requested = run.trainer.progress.step == stop
    if run.trainer.done:
        finish(run)
    run.close()
    return run


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """The folder of runs, and a run that was interrupted, ended, made longer, and ended again."""
    folder = tmp_path_factory.mktemp("hparams")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_jsonl(Path("pairs.jsonl"), toy_pairs(60))
        for start in STOPS:
            run = train(**start)
        return folder / "runs", run


def test_the_page_has_one_session_with_settings_and_final_scores(ended: tuple[Path, Run]) -> None:
    runs, run = ended
    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(runs))
    multiplexer.Reload()
    assert list(multiplexer.Runs()) == ["toy"]  # no run of its own for the page
    provider = MultiplexerDataProvider(multiplexer, str(runs))
    context = Context(TBContext(data_provider=provider))
    request = api_pb2.ListSessionGroupsRequest(
        start_index=0, slice_size=9,
        allowed_statuses=[api_pb2.STATUS_SUCCESS],
        col_params=[api_pb2.ColParams(metric=api_pb2.MetricName(tag=tag)) for tag in FINAL],
    )  # fmt: skip
    (group,) = Handler(RequestContext(), context, "", request).run().session_groups
    (session,) = group.sessions
    found = {name: _value(value) for name, value in group.hparams.items()}
    assert found["training.lr"] == 1e-3
    assert found["training.optimizer"] == "adam"
    assert found["training.betas"] == "[0.9, 0.999]"
    assert found["model.num_layers"] == 1
    assert found["model.attention_bias"] == "False"
    assert found["tokenizer.kind"] == "word"
    assert found["seed"] == 7
    assert not [name for name in found if "epochs" in name or "keep" in name or "every" in name]
    scores = {value.name.tag: value.value for value in session.metric_values}
    assert scores.keys() == set(FINAL)
    assert scores["final/steps"] == run.trainer.progress.step == 12
    assert scores["final/loss"] == pytest.approx(run.trainer.progress.best)


def _value(value: object) -> object:
    return getattr(value, str(value.WhichOneof("kind")))  # type: ignore[attr-defined]


def test_settings_are_written_once_however_often_the_run_is_resumed(
    ended: tuple[Path, Run],
) -> None:
    tags = [
        value.tag
        for file in (ended[0] / "toy").glob("events*")
        for event in EventFileLoader(str(file)).Load()
        for value in event.summary.value
        if value.tag.startswith("_hparams_")
    ]
    assert sorted(tags) == [
        "_hparams_/experiment",
        *["_hparams_/session_end_info"] * 2,  # one for each end
        "_hparams_/session_start_info",
    ]
