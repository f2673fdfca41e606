"""Every table and figure of the paper, one after the other, and a report of all of them.

    python -m experiments.reproduce scale=quick        # about a quarter of an hour on two cores
    python -m experiments.reproduce scale=paper only=[techniques,round_robin]

Each experiment is a command of its own; here it gets the sizes of configs/scale/<scale>.yaml. What
is finished is not done again, also not the matches within an experiment that was stopped, so the
same command goes on where it was. The report, results/report.html and .md, is written at the end
of every start, also of one that was stopped.
"""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax

from experiments import (
    card_statistics,
    card_values,
    input_figures,
    inputs,
    irrelevant_cards,
    round_robin,
    techniques,
    topologies,
    training_curve,
    worked_examples,
)
from experiments.cli import DONE, Command, command
from experiments.progress import in_words, overall_progress
from experiments.report_page import write_report
from experiments.results import RESULTS, ROOT
from experiments.training_curve import SHIPPED, games_of
from gongzhu_jax.checkpoint import digest
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.files import write_whole
from gongzhu_jax.network.weights import load_weights

FINISHED = "finished.json"
LOG = "log.txt"


@dataclass(frozen=True)
class Step:
    """One experiment: its command, and the settings in which it takes weights and pictures."""

    run: Command
    checkpoint: str | None = "checkpoint={}"
    picture: str | None = None
    pictures: Sequence[str] = ()  # files that must be there when it is finished


STEPS: Mapping[str, Step] = {
    "round_robin": Step(round_robin.main, "options.scrofa-simple.checkpoint={}"),
    "techniques": Step(techniques.main, "options.checkpoint={}"),
    "inputs": Step(inputs.main),
    "training_curve": Step(
        training_curve.main,
        "checkpoints=[{}]",
        "picture={}/training_curve.png",
        ("training_curve.png",),
    ),
    "card_statistics": Step(
        card_statistics.main,
        picture="picture={}/cards",
        pictures=("cards_factor.png", "cards_spread.png"),
    ),
    "card_values": Step(card_values.main),
    "irrelevant_cards": Step(irrelevant_cards.main),
    "worked_examples": Step(worked_examples.main),
    "input_figures": Step(
        input_figures.main,
        None,
        "picture={}/input",
        ("input_diffuse.png", "input_averaged.png"),
    ),
    "topologies": Step(topologies.main, None),  # last: the slowest, and it trains its own weights
}


@dataclass(frozen=True, kw_only=True)
class ReproduceSettings:
    name: str
    minutes: dict[str, float] = field(default_factory=dict)
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    checkpoint: str | None
    only: list[str]
    folder: str | None
    report: str
    compilation_cache: str | None

    def __post_init__(self) -> None:
        for name in (*self.only, *self.steps, *self.minutes):
            if name not in STEPS:
                raise ConfigError(f"unknown experiment {name!r}; there are {', '.join(STEPS)}")

    @property
    def chosen(self) -> list[str]:
        return [name for name in STEPS if not self.only or name in self.only]


class Clock:
    """How long it will take, by what was expected and the pace so far."""

    def __init__(self, expected: Mapping[str, float]):
        self._waiting = dict(expected)  # seconds
        self._spent = self._expected = 0.0
        self._current, self._started = 0.0, time.monotonic()

    def start(self, name: str) -> None:
        self._current, self._started = self._waiting.pop(name), time.monotonic()

    def stop(self) -> float:
        seconds = time.monotonic() - self._started
        self._spent += seconds
        self._expected += self._current
        self._current = 0.0
        return seconds

    def left(self) -> float:
        """Seconds."""
        pace = self._spent / self._expected if self._expected else 1.0
        running = time.monotonic() - self._started if self._current else 0.0
        return max(pace * self._current - running, 0.0) + pace * sum(self._waiting.values())


def arguments_of(name: str, settings: ReproduceSettings, folder: Path) -> list[str]:
    """The command line of an experiment."""
    step, folder = STEPS[name], _shown(folder)
    found = overrides(settings.steps.get(name, {}))
    if step.checkpoint is not None and settings.checkpoint is not None:
        found.append(step.checkpoint.format(settings.checkpoint))
    if step.picture is not None:
        found.append(step.picture.format(folder))
    return [*found, f"output={folder / name}.json"]


def _shown(folder: Path) -> Path:
    """The folder as results name it: no paths of this machine, where that can be."""
    here = Path.cwd() == ROOT and folder.is_relative_to(ROOT)
    return folder.relative_to(ROOT) if here else folder


def overrides(options: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Nested settings as they are written on a command line."""
    found = []
    for key, value in options.items():
        if isinstance(value, Mapping):
            found += overrides(value, f"{prefix}{key}.")
        elif isinstance(value, list | tuple):
            found.append(f"{prefix}{key}=[{','.join(map(str, value))}]")
        else:
            found.append(f"{prefix}{key}={'null' if value is None else value}")
    return found


class Ledger:
    """Which experiments are finished in a folder: of what weights, with which settings, and how
    long they took."""

    def __init__(self, folder: Path, weights: str):
        self._path, self._weights = folder / FINISHED, weights
        self._rows = json.loads(self._path.read_text()) if self._path.is_file() else {}

    def has(self, name: str, arguments: Sequence[str]) -> bool:
        row = self._rows.get(name)
        files = (f"{name}.json", *STEPS[name].pictures)
        return (
            row is not None
            and (row["weights"], row["arguments"]) == (self._weights, list(arguments))
            and all((self._path.parent / file).is_file() for file in files)
        )

    def add(self, name: str, arguments: Sequence[str], seconds: float) -> None:
        row = {"weights": self._weights, "arguments": list(arguments), "seconds": round(seconds, 1)}
        self._rows[name] = row
        write_whole(self._path, json.dumps(self._rows, indent=1).encode())

    @property
    def seconds(self) -> dict[str, float]:
        return {name: row["seconds"] for name, row in self._rows.items()}


@command("reproduce", ReproduceSettings)
def main(settings: ReproduceSettings, line: str) -> int:
    games_of(settings.checkpoint or SHIPPED)  # before the work: whether it can be read
    _, params = load_weights(settings.checkpoint)
    weights = digest(params)
    default = RESULTS / "reproduce" / f"{settings.name}-{weights[:8]}"
    folder = default if settings.folder is None else ROOT / settings.folder
    folder.mkdir(parents=True, exist_ok=True)
    if settings.compilation_cache:
        jax.config.update("jax_compilation_cache_dir", str(ROOT / settings.compilation_cache))
    ledger = Ledger(folder, weights)
    code = run_steps(settings, folder, ledger)
    about = {"command": line, "scale": settings.name, "weights": weights}
    for path in write_report(folder, ROOT / settings.report, about, ledger.seconds):
        print(f"report in {_shown(path)}")
    return code


def run_steps(settings: ReproduceSettings, folder: Path, ledger: Ledger) -> int:
    """Runs what is not finished; the exit code of the first that fails."""
    lines = {name: arguments_of(name, settings, folder) for name in settings.chosen}
    waiting = [name for name in lines if not ledger.has(name, lines[name])]
    clock = Clock({name: 60 * settings.minutes.get(name, 1.0) for name in waiting})
    with overall_progress(f"reproduce, scale {settings.name}", clock.left) as display:
        if len(waiting) < len(lines):
            display.say(f"{len(lines) - len(waiting)} of {len(lines)} are finished already")
        for done, name in enumerate(waiting):
            display.advance(done, len(waiting))
            display.say(f"{done + 1}/{len(waiting)} {name}, {in_words(clock.left())} left")
            clock.start(name)
            with (folder / LOG).open("a") as log, redirect_stdout(log):
                code = STEPS[name].run(lines[name])
            if code != DONE:
                display.say(f"{name} ended with exit code {code}; the same command goes on")
                return code
            ledger.add(name, lines[name], clock.stop())
    return DONE


if __name__ == "__main__":
    sys.exit(main())
