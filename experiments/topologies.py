"""The paper's table of network topologies: each trained on the same number of games.

    python -m experiments.topologies epochs=200 deals=256

Every network starts from zero and learns from `epochs` x `games` games of its own with the settings
of `recipe`, a preset of `experiments.train`; then its raw player (one visit per legal card, 5
uniform deals) meets two Mr. Greeds on the same deals. The paper trained each for days, so only the
order after a few games is compared here. Runs are kept under `directory` and go on after a stop.

The result has `rows` by network: parameters, trained_on (games), training_seconds, and what
`experiments.evaluate` says of the match; `interrupted`.
"""

import hashlib
import sys
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from experiments.cli import command, finish
from experiments.comparison import Pairing, compare
from experiments.progress import progress
from experiments.results import ROOT, commit, points, print_table
from experiments.settings import PlaySettings
from experiments.train import load_preset
from gongzhu_jax import players, runtime
from gongzhu_jax.checkpoint import LAST, Checkpoints
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.network.policy_value import NetworkConfig, Params, count_parameters
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.training import Schedule, TrainingConfig, train

PAPER = {  # parameters as printed there, points over Mr. Greed
    "fc16": ("9315381", "0 ± 8"),
    "fc24": ("11416299", "32 ± 5"),
    "resnet18": ("11199093", "-66 ± 8"),
}


@dataclass(frozen=True, kw_only=True)
class TopologiesSettings(PlaySettings):
    networks: list[str]
    recipe: str
    epochs: int
    games: int
    checkpoint_every: int
    directory: str
    deals_of: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.networks:
            raise ConfigError("there are no networks to compare")
        for name in self.deals_of:
            if name not in self.networks:
                raise ConfigError(f"deals_of {name!r}, which is not among the networks")

    def training(self, network: str) -> TrainingConfig:
        """The preset with this network and budget."""
        preset = load_preset(self.recipe)
        play = replace(preset.selfplay, games=self.games)
        return replace(
            preset,
            network=NetworkConfig(network),
            epochs=self.epochs,
            selfplay=play,
            seed=self.seed,
        )


@dataclass(frozen=True)
class Trained:
    """A network after its training."""

    config: NetworkConfig
    params: Params
    games: int
    seconds: float


def train_network(config: TrainingConfig, folder: Path, checkpoint_every: int) -> Trained:
    """Trains to the end, from the last checkpoint in `folder` if there is one."""
    run = Checkpoints(folder)
    if config.epochs not in run.epochs(LAST):
        with progress(f"training {config.network.name}") as advance:
            train(
                config,
                runtime.games_mesh(),
                run,
                Schedule(checkpoint_every=checkpoint_every),
                on_epoch=lambda row: advance(int(row["epoch"]), config.epochs),
                about={"command": "experiments.topologies", "commit": commit()},
            )
    about = run.about(LAST, config.epochs)
    network, params = load_weights(folder / LAST / str(config.epochs))
    games = config.epochs * config.selfplay.games
    return Trained(network, params, games, about["progress"]["seconds"])


def run_folder(directory: str, config: TrainingConfig) -> Path:
    """A folder for each network and budget: runs of other settings must not be gone on with."""
    digest = hashlib.sha256(repr(asdict(config)).encode()).hexdigest()[:8]
    return ROOT / directory / f"{config.network.name}-{digest}"


@command("topologies", TopologiesSettings)
def main(settings: TopologiesSettings, line: str) -> int:
    greed = players.make("greed")
    configs = {name: settings.training(name) for name in settings.networks}
    trained = {
        name: train_network(
            config, run_folder(settings.directory, config), settings.checkpoint_every
        )
        for name, config in configs.items()
    }
    pairings = [
        Pairing(
            name,
            players.from_network("raw", found.config, found.params),
            greed,
            settings.deals_of.get(name),
        )
        for name, found in trained.items()
    ]
    comparison = compare(pairings, settings)
    rows = {
        name: {
            "parameters": count_parameters(trained[name].params),
            "trained_on": trained[name].games,
            "training_seconds": trained[name].seconds,
            **row,
        }
        for name, row in comparison.rows.items()
    }
    print_table("raw network, points over two Mr. Greeds", [_row(*item) for item in rows.items()])
    result = {"rows": rows, "interrupted": comparison.interrupted}
    return finish("topologies", result, settings, line)


def _row(name: str, row: dict[str, Any]) -> dict[str, str]:
    _, published = PAPER.get(name, ("", ""))
    return {
        "what": name,
        "parameters": f"{row['parameters']:,}",
        "games": str(row["trained_on"]),
        "points": points(row),
        "deals": str(row["deals"]),
        "paper": published,
    }


if __name__ == "__main__":
    sys.exit(main())
