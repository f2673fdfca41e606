"""Makes a dataset of games: `python -m experiments.make_games directory=runs/games games=20000`.

Games of a mixture of players at random deals, in shards of columns that NumPy reads
(`gongzhu_jax.datasets` says which), and README.md, a card that says what they are. The same command
goes on where it was stopped, and goes on with more games if it is asked for more. Read them:
`open_dataset("runs/games").batches(256)`.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.common.cli import choose_devices, command
from experiments.common.launchers import LauncherSettings, launch_all
from experiments.common.progress import note
from experiments.common.provenance import commit
from experiments.common.settings import check_run_folder
from experiments.report.figures import markdown
from gongzhu_jax import datasets, runtime
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation.fingerprint import player_identity
from gongzhu_jax.files import write_whole
from gongzhu_jax.game import env
from gongzhu_jax.mixture_training import MixtureGames, play_mixture
from gongzhu_jax.players.labels import check_labels, make_labelled
from gongzhu_jax.players.protocol import Player

CARD = """\
# Games of Gongzhu

Whole games of Gongzhu, four seats in two teams, between players of gongzhu_jax at random deals. The
dataset has all hands; the players saw their own only.

{facts}

{players}

The columns are described in `gongzhu_jax.datasets`, and `open_dataset(folder).batches(256)` reads
them. NumPy reads a shard without the package.

**Limits.** No people play here, and nobody outside this mixture: how others play, and positions
that these players avoid, cannot be learnt from it. Points of a seat depend on who sits with it, so
players cannot be compared by them.
"""


@dataclass(frozen=True, kw_only=True)
class MakeGamesSettings:
    directory: str
    games: int
    shard: int
    seed: int
    mixture: dict[str, float] = field(default_factory=dict)
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    random_play: float
    keep_q: bool
    chunk: int | None
    launcher: LauncherSettings = field(default_factory=LauncherSettings)

    def __post_init__(self) -> None:
        check_run_folder(self.directory)
        check_labels(self.mixture, self.options)
        if min(self.mixture.values(), default=-1.0) < 0 or not self.shares:
            raise ConfigError("mixture needs players with positive shares")
        if self.games < 1 or self.shard < 1 or self.games % self.shard:
            raise ConfigError("games must be a multiple of those of a shard")
        if not 0 <= self.random_play <= 1:
            raise ConfigError("random_play lies in 0..1")

    @property
    def shares(self) -> dict[str, float]:
        """The mixture without those whose share is 0."""
        return {label: share for label, share in self.mixture.items() if share > 0}

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the games of a shard."""
        kept = asdict(self)
        others = ("directory", "games", "chunk", "launcher")
        return {name: kept[name] for name in kept if name not in others}


def columns_of(games: MixtureGames) -> datasets.Columns:
    """The columns of a shard."""
    states = games.states
    owners = jax.vmap(lambda state: env.rewind(state, jnp.int8(0)).holder)(states)
    columns = {
        "owners": owners,
        "leader": states.leaders[:, 0],
        "plays": states.plays,
        "player": games.player_type,
        "scores": jax.vmap(env.scores)(states).astype(np.int16),
        "random": games.random,
        **({} if games.q is None else {"q": games.q}),
    }
    return {name: np.asarray(column) for name, column in columns.items()}


def play_shard(
    settings: MakeGamesSettings, players: Sequence[Player], number: int
) -> tuple[int, datasets.Columns]:
    """The number of a shard and its columns, wherever this process runs."""
    choose_devices()
    games = play_mixture(
        *((settings.seed, number), settings.shard, players),
        *(list(settings.shares.values()), runtime.games_mesh(), settings.chunk),
        random_play=settings.random_play,
        record_q=settings.keep_q,
    )
    return number, columns_of(games)


def card(dataset: datasets.Dataset) -> str:
    """The dataset card: who plays, how they score, and where the games are from."""
    about, names = dataset.about, dataset.about["players"]
    games, seats, points = 0, np.zeros(len(names)), np.zeros(len(names))
    for path in dataset.shards:
        columns = datasets.read_shard(path)
        player, scores = (columns[name].ravel() for name in ("player", "scores"))
        games += len(columns["leader"])
        seats += np.bincount(player, minlength=len(names))
        points += np.bincount(player, scores, minlength=len(names))
    facts = [
        ["", ""],
        ["games", f"{games:,}, in {len(dataset.shards)} shards"],
        ["rules", f"`{about['rules']}`"],
        ["seed", str(about["seed"])],
        ["plays that are random", f"{about['random_play']:.0%}"],
        ["Q of every legal card", "kept" if about["keep_q"] else "not kept"],
        ["made by", f"`{about['command']}`, commit {about['commit'][:10]}"],
    ]
    players = [["player", "seats", "points of a seat, mean", "options"]]
    for name, count, total in zip(names, seats, points, strict=True):
        options = json.dumps(about["options"].get(name, {}))
        players.append([name, f"{count:,.0f}", f"{total / max(count, 1):.1f}", f"`{options}`"])
    return CARD.format(facts=markdown(facts), players=markdown(players))


@command("make_games", MakeGamesSettings)
def main(settings: MakeGamesSettings, line: str) -> None:
    folder = Path(settings.directory)
    folder.mkdir(parents=True, exist_ok=True)
    players = [make_labelled(label, settings.options) for label in settings.shares]
    about = {
        "players": list(settings.shares),
        "parameters": [player_identity(player)["params"] for player in players],
        **settings.identity,
    }
    if (folder / datasets.ABOUT).exists():
        kept = dict(datasets.open_dataset(folder).about)
        if different := [name for name in about if kept.get(name) != about[name]]:
            raise ConfigError(
                f"{folder} has games of another {different[0]}: choose another folder"
            )
    else:
        datasets.write_about(folder, {**about, "command": line, "commit": commit()})
    shards = range(settings.games // settings.shard)
    missing = [number for number in shards if not datasets.shard_path(folder, number).exists()]
    calls = [(settings, players, number) for number in missing]

    def keep(shard: tuple[int, datasets.Columns]) -> None:
        datasets.write_shard(datasets.shard_path(folder, shard[0]), shard[1])

    launch_all(settings.launcher, play_shard, calls, f"shards of {settings.shard} games", keep)
    write_whole(folder / "README.md", card(datasets.open_dataset(folder)).encode())
    note(f"{settings.games} games in {folder}")


if __name__ == "__main__":
    raise SystemExit(main())
