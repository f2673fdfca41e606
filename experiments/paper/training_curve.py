"""The paper's figure of training: raw network and full player by games, with the lines R, I and G.

    python -m experiments.paper.training_curve checkpoints=[runs/compact/best/400]

The curve of the raw network is that of a run, kept by `experiments.training_report`. The full
player (SS with IEC) and the raw network are measured here at each of `checkpoints`, and so are
Mr. Random and Mr. If, all against two Mr. Greeds on the same deals.

The result has `rows` by name, what the record says of each match; `trained`: games that the network
of a row has learnt from; `curve`: points of the run (games, hours, wpg, wpg_stderr), empty if there
is none.
"""

from dataclasses import dataclass
from pathlib import Path

from experiments.common.cli import Result, experiment
from experiments.common.provenance import runs_behind
from experiments.common.results import PLACES, Workplace, read_result
from experiments.common.settings import PlaySettings
from experiments.common.training_plots import plot_curve
from experiments.compare import as_rows, play_all
from gongzhu_jax import players
from gongzhu_jax.checkpoint import Checkpoints
from gongzhu_jax.errors import CheckpointError, ConfigError
from gongzhu_jax.network.weights import SUFFIX, about_weights

SHIPPED = "shipped"
"""The name of the weights that come with the package, among checkpoints."""


@dataclass(frozen=True, kw_only=True)
class CurveSettings(PlaySettings):
    checkpoints: list[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.checkpoints)) < len(self.checkpoints):
            raise ConfigError(f"a checkpoint is named twice in {self.checkpoints}")


def games_of(checkpoint: str) -> int | None:
    """On how many games a network was trained, those of the runs that it started from included, if
    its file says so."""
    path = Path(checkpoint)
    if checkpoint == SHIPPED or path.suffix == SUFFIX:
        about = about_weights() if checkpoint == SHIPPED else about_weights(path)
    elif path.name.isdigit():
        about = Checkpoints(path.parent.parent).about(path.parent.name, int(path.name))
        about["games"] = int(path.name) * about["config"]["selfplay"]["games"]
    else:
        raise CheckpointError(
            f"{checkpoint} is not one checkpoint of a run such as runs/compact/last/100"
        )
    return sum(run.get("games", 0) for run in runs_behind(about)) if "games" in about else None


def run(settings: CurveSettings, work: Workplace) -> Result:
    greed = players.make("greed")
    made = {"Mr. Random": players.make("random"), "Mr. If": players.make("if")}
    trained = {}
    for name in settings.checkpoints:
        checkpoint = None if name == SHIPPED else name
        note = "" if name == SHIPPED else f" of {name}"
        made[f"raw network{note}"] = players.make("raw", checkpoint=checkpoint)
        made[f"full player{note}"] = players.make("scrofa", checkpoint=checkpoint)
        trained |= dict.fromkeys((f"raw network{note}", f"full player{note}"), games_of(name))
    records = play_all({name: (player, greed) for name, player in made.items()}, settings, work)
    kept = read_result(PLACES.results / "training.json")
    curve = kept["result"]["points"] if kept else []
    return {**as_rows(records), "trained": trained, "curve": curve}


main = experiment("paper/training_curve", CurveSettings, run, plot_curve)

if __name__ == "__main__":
    raise SystemExit(main())
