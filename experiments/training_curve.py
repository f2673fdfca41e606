"""The paper's figure of training: raw network and full player by games, with the lines R, I and G.

    python -m experiments.training_curve checkpoints=[runs/compact/best/400,runs/compact/last/2400]

The curve of the raw network is that of a run, kept by `experiments.training_report`. The full
player (SS with IEC) and the raw network are measured here at each of `checkpoints`, and so are
Mr. Random and Mr. If, all against two Mr. Greeds on the same deals.

The result has `levels` (random, if), `full` and `raw`: lists of checkpoints, each with
games_trained and what `experiments.evaluate` says of a match; `curve`: points of the run (games,
hours, wpg, wpg_stderr), empty if there is none; `interrupted`.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.cli import command, finish
from experiments.comparison import Comparison, Pairing, compare
from experiments.plots import plot_curve
from experiments.results import ROOT, points, print_table
from experiments.settings import PlaySettings
from experiments.techniques import TECHNIQUES
from gongzhu_jax import players
from gongzhu_jax.checkpoint import Checkpoints
from gongzhu_jax.errors import CheckpointError, ConfigError
from gongzhu_jax.network.weights import SUFFIX, about_weights

SHIPPED = "shipped"
"""The name of the weights that come with the package, among checkpoints."""


@dataclass(frozen=True, kw_only=True)
class CurveSettings(PlaySettings):
    checkpoints: list[str]
    curve: str
    picture: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.checkpoints)) < len(self.checkpoints):
            raise ConfigError(f"a checkpoint is named twice in {self.checkpoints}")


def games_of(checkpoint: str) -> int | None:
    """On how many games a network was trained, if its file says so."""
    path = Path(checkpoint)
    if checkpoint == SHIPPED or path.suffix == SUFFIX:
        return _games(about_weights(*[] if checkpoint == SHIPPED else [path]))
    if not path.name.isdigit():
        raise CheckpointError(
            f"{checkpoint} is not one checkpoint of a run such as runs/compact/last/100"
        )
    epoch = int(path.name)
    about = Checkpoints(path.parent.parent).about(path.parent.name, epoch)
    games = epoch * about["config"]["selfplay"]["games"]
    return _games(about | {"games": games})


def _games(about: dict[str, Any]) -> int | None:
    """Of a run and of those that it started from."""
    if "games" not in about:
        return None
    return about["games"] + (_games(about["start"]) or 0 if "start" in about else 0)


def read_curve(path: Path) -> list[dict[str, float]]:
    """The points of a training run that was kept as a result; none if it was not."""
    return json.loads(path.read_text())["result"]["points"] if path.is_file() else []


def pairings(settings: CurveSettings) -> list[Pairing]:
    """Mr. Random, Mr. If, and two players of each checkpoint."""
    greed = players.make("greed")
    found = [Pairing(name, players.make(name), greed) for name in ("random", "if")]
    for name in settings.checkpoints:
        checkpoint = None if name == SHIPPED else name
        full = players.make("scrofa", checkpoint=checkpoint, **TECHNIQUES["SS with IEC"])
        raw = players.make("raw", checkpoint=checkpoint)
        found += [Pairing(f"full {name}", full, greed), Pairing(f"raw {name}", raw, greed)]
    return found


def gather(comparison: Comparison, settings: CurveSettings) -> dict[str, Any]:
    """The result but for the curve of the run."""
    rows = comparison.rows

    def at_checkpoints(kind: str) -> list[dict[str, Any]]:
        return [
            {"checkpoint": name, "games_trained": games_of(name), **rows[f"{kind} {name}"]}
            for name in settings.checkpoints
            if f"{kind} {name}" in rows
        ]

    return {
        "levels": {name: rows[name] for name in ("random", "if") if name in rows},
        "full": at_checkpoints("full"),
        "raw": at_checkpoints("raw"),
        "interrupted": comparison.interrupted,
    }


@command("training_curve", CurveSettings)
def main(settings: CurveSettings, line: str) -> int:
    comparison = compare(pairings(settings), settings)
    result = gather(comparison, settings) | {"curve": read_curve(ROOT / settings.curve)}
    print_table(
        "points over two Mr. Greeds",
        [{"what": name, "points": points(row)} for name, row in comparison.rows.items()],
    )
    if settings.picture is not None:
        plot_curve(result, ROOT / settings.picture)
    return finish("training_curve", result, settings, line)


if __name__ == "__main__":
    sys.exit(main())
