"""The facts on a run, from its folders runs/<name> and weights/<name>; either may be missing."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, Literal

from mt.complaints import nearest
from mt.errors import UserError
from mt.storage.checkpoint import DamagedError, list_checkpoints, read_shapes, read_state, step_of
from mt.storage.history import Start, last_sign, read_history
from mt.storage.lock import lock_owner
from mt.storage.model_folder import WEIGHTS, ModelFolder
from mt.storage.record import METRICS_FILE, RUNS, last_metrics

# A process trains it; it can go on; all is trained; a file of it cannot be used; a model whose
# training was not recorded here, as one that was copied.
State = Literal["running", "stopped", "ended", "damaged", "model"]
UNKNOWN_END = "killed, or the machine went down"


@dataclass(frozen=True)
class Evaluation:
    """Scores that `mt evaluate` left, by metric; `stale` if the model is another one by now."""

    test_set: str
    sentences: int
    scores: dict[str, float]
    signatures: dict[str, str]
    checkpoint: str | None  # that was evaluated, if that was recorded
    stale: bool


@dataclass
class RunFacts:
    """All that is known of a run. What is not known is None, or empty."""

    name: str
    state: State
    why: str  # it ended or stopped, or what is damaged
    source: list[str]  # what it was trained on
    languages: str  # en-it
    pairs: int | None  # of the training split
    parameters: int | None
    step: int | None  # made so far
    total: int | None  # to be made in all
    valid: dict[str, float]  # by metric, of the checkpoint that translates
    valid_step: int | None
    tests: dict[str, Evaluation]  # by test set
    test_hash: str  # of the test split: equal ones are one test set
    seconds: float | None  # over all starts
    began: float | None  # seconds since 1970
    active: float | None  # when something was written last
    starts: int
    damage: list[str]
    record: Path | None
    model: Path | None


def all_runs() -> list[RunFacts]:
    """The facts on every run in runs/ and weights/ of the current folder, by name."""
    return [facts_of(name) for name in _names()]


def find_run(name: str) -> RunFacts:
    """The facts on a run by its name, or by one of its folders. Raises UserError if it is not."""
    names = _names()
    if name in names:
        return facts_of(name)
    own = Path(name).name
    if own in names and Path(name).resolve() in {(f / own).resolve() for f in (RUNS, WEIGHTS)}:
        return facts_of(own)
    where = f"{RUNS.absolute()} or {WEIGHTS.absolute()}"
    raise UserError(f"no run {name} in {where}{nearest(name, names)}")


def _names() -> list[str]:
    found = {path.name for path in _folders(RUNS)}
    found |= {path.name for path in _folders(WEIGHTS) if _is_model(ModelFolder(path))}
    return sorted(found)


def _folders(place: Path) -> list[Path]:
    if not place.is_dir():
        return []
    return [path for path in place.iterdir() if path.is_dir() and path.name[0] != "."]


def _is_model(folder: ModelFolder) -> bool:
    return folder.exists or folder.checkpoints.is_dir()


def facts_of(name: str) -> RunFacts:
    """The facts on the run `name` in the current folder."""
    return _Reader(name).facts()


@dataclass
class _Reader:
    """Reads the files of a run, noting what is damaged."""

    name: str
    damage: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.record, self.folder = RUNS / self.name, ModelFolder(WEIGHTS / self.name)
        self.has_model = _is_model(self.folder)

    def facts(self) -> RunFacts:
        # The lock first: what ends between two looks is then told as ended, by its history.
        owner = lock_owner(self.folder.path)
        starts = read_history(self.record)
        states = self._states()
        metrics = self._metrics()
        data = self._json(self.folder.data_file) if self.has_model else {}
        step = self._step(states, metrics, running=owner is not None)
        valid, valid_step = self._valid(states)
        tests = self._tests()
        splits = data.get("splits", {})
        state, why = self._state(owner, starts, states, metrics)
        language = [str(data[side]) for side in ("src", "tgt") if side in data]
        active = max(filter(None, [last_sign(self.record), self._newest_file()]), default=None)
        return RunFacts(
            name=self.name,
            state=state,
            why=why,
            source=_trained_on(data),
            languages="-".join(language),
            pairs=splits.get("train", {}).get("pairs"),
            parameters=self._parameters(),
            step=step,
            total=starts[-1].total if starts else None,
            valid=valid,
            valid_step=valid_step,
            tests=tests,
            test_hash=splits.get("test", {}).get("hash", ""),
            seconds=_seconds(starts, running=owner is not None, last=last_sign(self.record)),
            began=starts[0].began if starts else None,
            active=active,
            starts=len(starts),
            damage=self.damage,
            record=self.record if self.record.is_dir() else None,
            model=self.folder.path if self.has_model else None,
        )

    def _states(self) -> dict[str, dict[str, Any]]:
        """What each whole checkpoint remembers, oldest first, the average last."""
        average = [self.folder.average] * self.folder.average.is_dir()
        found = {}
        for checkpoint in [*list_checkpoints(self.folder.checkpoints), *average]:
            try:
                state = read_state(checkpoint)
                for name in state["files"]:
                    read_shapes(checkpoint / name)
                found[checkpoint.name] = state
            except DamagedError as error:
                self.damage.append(str(error))
        return found

    def _metrics(self) -> list[dict[str, object]]:
        try:
            return last_metrics(self.record)
        except (OSError, ValueError):
            self.damage.append(f"{self.record / METRICS_FILE} is not readable")
            return []

    def _json(self, path: Path) -> dict[str, Any]:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            content = {} if not self.folder.exists else None
        except (OSError, ValueError):
            content = None
        if not isinstance(content, dict):
            self.damage.append(f"{path} is missing or damaged")
            return {}
        return content

    def _step(
        self,
        states: Mapping[str, Any],
        metrics: list[dict[str, object]],
        running: bool,
    ) -> int | None:
        """Of the newest checkpoint; of the curves where they are ahead and the run goes on."""
        saved = [step_of(Path(name)) for name in states if name != self.folder.average.name]
        seen = [int(str(line["step"])) for line in metrics[-1:]]
        return max(seen + saved if running or not saved else saved, default=None)

    def _valid(self, states: Mapping[str, dict[str, Any]]) -> tuple[dict[str, float], int | None]:
        """Scores of what translates, and the step of it."""
        best = self.folder.pointer("best")
        chosen = best.name if best else next(iter([*states][::-1]), "")
        progress = states.get(chosen, {}).get("progress", {})
        return dict(progress.get("scores", {})), progress.get("validated_step")

    def _tests(self) -> dict[str, Evaluation]:
        best = self.folder.pointer("best") or self.folder.pointer("last")
        found = {}
        for path in sorted(self.folder.path.glob("evaluation/*/scores.json")):
            content = self._json(path)
            scores = {k: v for k, v in content.items() if isinstance(v, dict) and "signature" in v}
            if not scores:
                continue
            checkpoint = content.get("checkpoint")
            stale = best is not None and (
                checkpoint != best.name
                if checkpoint
                else path.stat().st_mtime < (best / "state.json").stat().st_mtime
            )
            found[path.parent.name] = Evaluation(
                test_set=path.parent.name,
                sentences=int(content.get("sentences", 0)),
                scores={name: float(score["value"]) for name, score in scores.items()},
                signatures={name: str(score["signature"]) for name, score in scores.items()},
                checkpoint=checkpoint,
                stale=stale,
            )
        return found

    def _state(
        self,
        owner: str | None,
        starts: list[Start],
        states: Mapping[str, Any],
        metrics: list[dict[str, object]],
    ) -> tuple[State, str]:
        if owner is not None:
            return "running", owner
        if self.has_model and not self.folder.exists and states:
            self.damage.append(f"{self.folder.config_file} is missing")
        if self.damage:
            return "damaged", self.damage[0]
        if not self.record.is_dir():
            return "model", "copied here, or its record was removed"
        if not self.has_model:
            return "stopped", f"no model in {self.folder.path}"
        last = starts[-1] if starts else None
        if last is None:  # of a time when no history was kept
            over = any("final/steps" in line for line in metrics)
            return ("ended" if over else "stopped"), ""
        if last.how == "ended":
            return "ended", last.why
        why = last.why or UNKNOWN_END
        return "stopped", why if states else f"{why}; no checkpoint yet"

    def _parameters(self) -> int | None:
        last = self.folder.pointer("best") or self.folder.pointer("last")
        try:
            shapes = read_shapes(last / "model.safetensors") if last else {}
        except DamagedError:
            return None
        return sum(prod(shape) for shape in shapes.values()) or None

    def _newest_file(self) -> float | None:
        checkpoints = list_checkpoints(self.folder.checkpoints)
        return checkpoints[-1].stat().st_mtime if checkpoints else None


def _seconds(starts: list[Start], running: bool, last: float | None) -> float | None:
    """From the beginning to the end of each start, summed; of one that was killed, to the last
    thing that it wrote; of one that runs, to now.
    """
    if not starts:
        return None
    ends = [start.ended for start in starts]
    if ends[-1] is None:
        ends[-1] = time.time() if running else last
    return sum(max(0.0, (end or s.began) - s.began) for s, end in zip(starts, ends, strict=True))


def _trained_on(data: Mapping[str, Any]) -> list[str]:
    """The sources of the corpus, but those that are for validation and tests alone."""
    source = data.get("source", [])
    every = [str(part) for part in source] if isinstance(source, list) else [str(source)]
    aside = {str(f.get("name")) for f in data.get("files", []) if f.get("role") != "train"}
    return [name for name in every if name not in aside] or every
