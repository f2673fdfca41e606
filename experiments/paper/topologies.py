"""The paper's table of network topologies: each trained on the same number of games.

    python -m experiments.paper.topologies epochs=200 deals=256

Every network starts from zero and learns from `epochs` x `games` games of its own with the settings
of `recipe`, a preset of `experiments.train`; then its raw player (one visit per legal card, 5
uniform deals) meets two Mr. Greeds on the same deals. The paper trained each for days, so only the
order after a few games is compared here. Runs are kept under `directory` and go on after a stop.

The result has `rows` by network, what the record says of its match, and `networks`: parameters,
trained_on (games) and training_seconds of each.
"""

import sys
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from experiments.common.cli import Result, experiment
from experiments.common.progress import progress
from experiments.common.results import Workplace
from experiments.common.settings import PlaySettings
from experiments.compare import Pairing, play_all
from experiments.train import load_preset
from gongzhu_jax import players, runtime
from gongzhu_jax.checkpoint import LAST, Checkpoints
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation.fingerprint import json_digest
from gongzhu_jax.evaluation.match_records import Recorder
from gongzhu_jax.network.policy_value import NetworkConfig, Params, count_parameters
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.training import Schedule, TrainingConfig, train


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


def train_network(
    config: TrainingConfig, folder: Path, checkpoint_every: int, work: Workplace
) -> Trained:
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
                about={key: work.provenance[key] for key in ("command", "commit")},
            )
    about = run.about(LAST, config.epochs)
    network, params = load_weights(folder / LAST / str(config.epochs))
    games = config.epochs * config.selfplay.games
    return Trained(network, params, games, about["progress"]["seconds"])


def run(settings: TopologiesSettings, work: Workplace, recorder: Recorder | None = None) -> Result:
    greed = players.make("greed")
    trained = {}
    for name in settings.networks:
        config = settings.training(name)
        # A folder for each network and budget: runs of other settings must not be gone on with.
        folder = work.runs / settings.directory / f"{name}-{json_digest(asdict(config), 8)}"
        trained[name] = train_network(config, folder, settings.checkpoint_every, work)
    pairings = [
        Pairing(
            name,
            players.from_network("raw", network.config, network.params),
            greed,
            settings.deals_of.get(name, settings.deals),
        )
        for name, network in trained.items()
    ]
    records = play_all(pairings, settings, recorder or work.recorder())
    return {
        "rows": {name: record.summary() for name, record in records.items()},
        "differences": {},
        "networks": {
            name: {
                "parameters": count_parameters(network.params),
                "trained_on": network.games,
                "training_seconds": network.seconds,
            }
            for name, network in trained.items()
        },
    }


main = experiment("paper/topologies", TopologiesSettings, run)

if __name__ == "__main__":
    sys.exit(main())
