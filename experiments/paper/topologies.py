"""The paper's table of network topologies: each trained on the same number of games.

    python -m experiments.paper.topologies epochs=200 deals=256

Every network starts from zero and learns from `epochs` x `games` games of its own with the settings
of `recipe`, a preset of `experiments.train`; then its raw player (one visit per legal card, 5
uniform deals) meets two Mr. Greeds on the same deals. The paper trained each for days, so only the
order after a few games is compared here. Runs are kept under `directory` and go on after a stop.

The result has `rows` by network, what the record says of its match, and `networks`: parameters,
trained_on (games) and training_seconds of each.
"""

from dataclasses import asdict, dataclass, field, replace

from experiments.common.cli import Result, experiment
from experiments.common.progress import progress
from experiments.common.results import Workplace
from experiments.common.settings import PlaySettings, at_least
from experiments.compare import as_rows, play_all
from experiments.train import load_preset
from gongzhu_jax import players, runtime
from gongzhu_jax.checkpoint import LAST, Checkpoints
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation.fingerprint import json_digest
from gongzhu_jax.network.policy_value import NetworkConfig, count_parameters
from gongzhu_jax.network.weights import load_weights
from gongzhu_jax.training import Schedule, TrainingConfig, train


@dataclass(frozen=True, kw_only=True)
class TopologiesSettings(PlaySettings):
    networks: list[str] = field(metadata=at_least(1))  # names of networks, as network.name of train
    recipe: str
    epochs: int
    games: int
    checkpoint_every: int
    directory: str
    deals_of: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.deals_of:
            if name not in self.networks:
                raise ConfigError(f"deals_of {name!r}, which is not among the networks")

    def training(self, network: str) -> TrainingConfig:
        """The preset with this network and budget."""
        preset = load_preset(self.recipe)
        play, chosen = replace(preset.selfplay, games=self.games), NetworkConfig(network)
        budget = {"epochs": self.epochs, "seed": self.seed}
        return replace(preset, network=chosen, selfplay=play, **budget)


def run(settings: TopologiesSettings, work: Workplace) -> Result:
    greed = players.make("greed")
    matches, networks = {}, {}
    for name in settings.networks:
        config = settings.training(name)
        # A folder for each network and budget: runs of other settings must not be gone on with.
        folder = work.runs / settings.directory / f"{name}-{json_digest(asdict(config), 8)}"
        checkpoints = Checkpoints(folder)
        if config.epochs not in checkpoints.epochs(LAST):
            with progress(f"training {name}") as advance:
                train(
                    config,
                    runtime.games_mesh(),
                    checkpoints,
                    Schedule(checkpoint_every=settings.checkpoint_every),
                    on_epoch=lambda row, advance=advance: advance(row["epoch"], settings.epochs),
                    about={key: work.provenance[key] for key in ("command", "commit")},
                )
        network, params = load_weights(folder / LAST / str(config.epochs))
        matches[name] = players.from_network("raw", network, params), greed
        networks[name] = {
            "parameters": count_parameters(params),
            "trained_on": config.epochs * config.selfplay.games,
            "training_seconds": checkpoints.about(LAST, config.epochs)["progress"]["seconds"],
        }
    records = play_all(matches, settings, work, settings.deals_of)
    return {**as_rows(records), "networks": networks}


main = experiment("paper/topologies", TopologiesSettings, run)

if __name__ == "__main__":
    raise SystemExit(main())
