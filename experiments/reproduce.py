"""Every table and figure of the paper, one after the other, and a report of all of them.

    python -m experiments.reproduce                              # a quarter of an hour: verifies
    python -m experiments.reproduce scale=final publish=true     # plays what is published

Each experiment gets the sizes of configs/scale/<scale>.yaml. What is finished is not done again:
matches are taken from the records that this machine has made, deal by deal, and other experiments
if the same source has made them with the same settings. So the same command goes on where it was
stopped. The report, runs/report.html and .md, says of each figure whether it agrees with the
published one; deals that are on record are the first to be played, so that on the same platform
matches must be equal deal by deal.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import Any

import jax

from experiments.common.cli import (
    EXPERIMENTS,
    SETTINGS,
    Experiment,
    changed_settings,
    command,
)
from experiments.common.progress import in_words, note, progress
from experiments.common.results import PLACES, RECORDS, Workplace, read_result
from experiments.common.settings import KeptSettings
from experiments.export_weights import KINDS
from experiments.paper.published import PUBLISHED
from experiments.paper.training_curve import SHIPPED, games_of
from experiments.report.docs import rewrite_pages
from experiments.report.page import write_report
from experiments.report.verify import Verification
from gongzhu_jax.checkpoint import digest
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation.fingerprint import json_digest, source_digest
from gongzhu_jax.evaluation.match_records import RecordStore
from gongzhu_jax.network.weights import load_weights, weights_digest

_ROWS = (
    *(
        "techniques",
        "strength",
        "inputs",
        "weightings",
        "parts",
        "alternatives",
        "refinements",
        "partners",
        "anytime",
    ),
    "oracle_gap",
)
_ALONE = ("round_robin", "belief_quality", "value_bias")
_LEARNT = ("opponent_model", "critic")
_OF_PAPER = (
    *("training_curve", "card_values", "card_statistics", "denominators", "irrelevant_cards"),
    *("worked_examples", "classical", "input_figures"),
)
_GRIDS = ("beta", "simulations", "scenarios")
_CURVES = ("ablations", "recipes", "topologies", "resnet18")
STEPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **{name: ("compare", (f"rows={name}",)) for name in _ROWS},
    **{name: (name, ()) for name in _ALONE},
    **{name: (f"paper/{name}", ()) for name in _OF_PAPER},
    **{f"exploit_{name}": ("exploit", (f"learns={name}",)) for name in _LEARNT},
    "exploit_scrofa_strong": ("exploit", ("learns=opponent_model", "targets=[scrofa-strong]")),
    "exploit_control": ("exploit", ("learns=opponent_model", "targets=[greed,if]")),
    **{f"curve_{name}": ("sweep", (f"grid={name}",)) for name in _GRIDS},
    **{name: ("paper/learning", (f"curves={name}",)) for name in _CURVES},
}
"""Name of an experiment: module with its config, and the arguments that make it this one. A scale
says which come first."""


@dataclass(frozen=True, kw_only=True)
class ReproduceSettings:
    name: str  # of the scale
    minutes: dict[str, float] = field(default_factory=dict)
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    checkpoint: str | None
    only: list[str]
    report: str
    publish: bool
    allow_changes: bool

    def __post_init__(self) -> None:
        for name in (*self.only, *self.steps, *self.minutes):
            if name not in STEPS:
                raise ConfigError(f"unknown experiment {name!r}; there are {', '.join(STEPS)}")

    @property
    def chosen(self) -> list[str]:
        return [name for name in self.only or self.steps if name in self.steps]


@dataclass(frozen=True)
class Step:
    """One experiment with its settings."""

    name: str
    settings: KeptSettings
    experiment: Experiment

    def identity(self, weights: str, source: str) -> str:
        """A digest of all that decides a result: settings, weights, code, and what it reads."""
        config = {
            k: v
            for k, v in asdict(self.settings).items()
            if k not in ("batch", "chunk", "launcher")
        }
        measuring = source_digest(Path(__file__).parent)
        kinds = [(kind.shipped, *kind.named.values()) for kind in KINDS.values()]
        shipped = {path.name: weights_digest(path) for paths in kinds for path in paths}
        read = [PUBLISHED.read_text(), read_result(PLACES.results / "training.json")]
        return json_digest([self.name, config, weights, source, measuring, shipped, read])


def make_step(name: str, settings: ReproduceSettings) -> Step:
    """The experiment of that name, as `settings` want it."""
    config, arguments = STEPS[name]
    import_module(f"experiments.{config.replace('/', '.')}")  # registers it
    known = {field.name for field in fields(SETTINGS[config])}
    changes: dict[str, Any] = {
        "publish": settings.publish,
        "allow_changes": settings.allow_changes,
        **settings.steps[name],
    }
    own = {"checkpoint": settings.checkpoint, "checkpoints": [settings.checkpoint]}
    if settings.checkpoint is not None:
        changes |= {key: value for key, value in own.items() if key in known}
    made = changed_settings(config, changes, arguments, f"steps.{name}")
    return Step(name, made, EXPERIMENTS[config])


class Clock:
    """How long it will take, by what was expected and the pace so far."""

    def __init__(self, expected: Mapping[str, float]):
        self._waiting = dict(expected)  # seconds
        self._spent = self._expected = 0.0
        self._current, self._started = 0.0, time.monotonic()

    def start(self, name: str) -> None:
        self._current, self._started = self._waiting.pop(name), time.monotonic()

    def stop(self) -> None:
        self._spent += time.monotonic() - self._started
        self._expected += self._current
        self._current = 0.0

    def left(self) -> float:
        """Seconds."""
        pace = self._spent / self._expected if self._expected else 1.0
        running = time.monotonic() - self._started if self._current else 0.0
        return max(pace * self._current - running, 0.0) + pace * sum(self._waiting.values())


@command("reproduce", ReproduceSettings)
def main(settings: ReproduceSettings, line: str) -> None:
    games_of(settings.checkpoint or SHIPPED)  # before the work: whether it can be read
    weights = digest(load_weights(settings.checkpoint)[1])
    steps = [make_step(name, settings) for name in settings.chosen]
    folder = PLACES.runs / "reproduce" / f"{settings.name}-{weights[:8]}"
    Workplace(line, settings.publish, settings.allow_changes).check()
    clock = Clock({step.name: 60 * settings.minutes.get(step.name, 1.0) for step in steps})
    try:
        with progress(f"reproduce, scale {settings.name}", clock.left) as advance:
            for number, step in enumerate(steps):
                advance(number, len(steps))
                note(f"{number + 1}/{len(steps)} {step.name}, {in_words(clock.left())} left")
                clock.start(step.name)
                # A report that verifies the published records must not read them.
                options = (settings.publish, settings.allow_changes)
                run_step(step, Workplace(line, *options, reuse_published=False), folder, weights)
                # Every compiled program has memory maps of its own, and Linux allows a process
                # 65,530 of them, which are not enough for the programs of all experiments.
                jax.clear_caches()
                clock.stop()
    finally:
        if settings.publish:
            rewrite_pages()
        for path in report(settings, folder, line, weights):
            note(f"report in {os.path.relpath(path)}")


def run_step(step: Step, work: Workplace, folder: Path, weights: str) -> None:
    """Runs one experiment, or finds that its result is there already."""
    place, pictures = (work.folder, work.pictures) if work.publish else (folder, folder)
    path = place / f"{step.name}.json"
    identity = step.identity(weights, work.provenance["source"])
    kept = read_result(path)
    if kept is not None and kept["result"].get("identity") == identity:
        note(f"{step.name}: finished already, by commit {kept['commit'][:10]}")
        return
    result = step.experiment.run(step.settings, work)
    place.mkdir(parents=True, exist_ok=True)
    if step.experiment.draw is not None:
        step.experiment.draw(result, pictures)
    work.write(step.name, {**result, "identity": identity}, step.settings, path)


def report(settings: ReproduceSettings, folder: Path, line: str, weights: str) -> tuple[Path, Path]:
    """The report of what is there."""
    documents = {
        name: (read_result(PLACES.results / f"{name}.json"), read_result(folder / f"{name}.json"))
        for name in settings.steps
    }
    here = Workplace(line).provenance
    machine = here["machine"]
    facts = {
        "command": line,
        "scale": settings.name,
        "weights": f"SHA-256 {weights[:16]}…",
        "commit": here["commit"] + ("" if here["clean"] else " with changes"),
        "machine": f"{machine['cpu']}, {machine['cores']} cores, {machine['platform']}",
        "software": f"Python {machine['python']}, jax {machine['jax']}, {machine['devices']}",
    }
    published, played = (RecordStore(of / RECORDS) for of in (PLACES.results, PLACES.runs))
    verification = Verification(published, played)
    return write_report(PLACES.runs / settings.report, folder, documents, facts, verification)


if __name__ == "__main__":
    raise SystemExit(main())
