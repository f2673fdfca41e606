"""Datasets of games, to learn from: folders of shards of columns, one row for each game.

    dataset.json       the players, the rules, and the command and commit that made the games
    games-00000.npz    a shard, with the columns

    owners  int8[G, 52]         seat that was dealt each card
    leader  int8[G]             seat that led to the first trick
    plays   int8[G, 52]         card ids in the order played
    player  int8[G, 4]          who sat at each seat: a number in `players` of dataset.json
    scores  int16[G, 4]         points of each seat at the end
    random  bool[G, 52]         plays that were drawn at random in place of the player's choice
    q       float16[G, 52, 52]  if they were kept: the averaged Q, in points, of every legal card
                                at each decision that was searched, -inf elsewhere

`python -m experiments.make_games` makes them. NumPy reads a shard without this package.
"""

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from gongzhu_jax.errors import RecordError
from gongzhu_jax.files import write_whole
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.replays import replay_scored

ABOUT = "dataset.json"
FORMAT = "gongzhu_jax games 1"
Columns = dict[str, np.ndarray]
SHAPES: Mapping[str, tuple[tuple[int, ...], type]] = {
    "owners": ((NUM_CARDS,), np.int8),
    "leader": ((), np.int8),
    "plays": ((NUM_CARDS,), np.int8),
    "player": ((NUM_SEATS,), np.int8),
    "scores": ((NUM_SEATS,), np.int16),
    "random": ((NUM_CARDS,), np.bool_),
    "q": ((NUM_CARDS, NUM_CARDS), np.float16),
}
"""Shape of a row and type of each column; `q` may be missing."""


@dataclass(frozen=True)
class Dataset:
    """A dataset on disk."""

    folder: Path
    about: Mapping[str, Any]
    shards: tuple[Path, ...]

    def batches(self, size: int, seed: int = 0) -> Iterator[Columns]:
        """All games once, `size` at a time, in an order that `seed` decides: the shards are
        shuffled, and so are the games of each. Games that are left at the end of a shard are put
        before the next one; an incomplete batch at the very end is dropped."""
        random = np.random.default_rng(seed)
        left: Columns = {}
        for number in random.permutation(len(self.shards)):
            columns = read_shard(self.shards[number])
            order = random.permutation(len(columns["leader"]))
            columns = {name: column[order] for name, column in columns.items()}
            if left:
                columns = {name: np.concatenate([left[name], columns[name]]) for name in columns}
            whole = len(columns["leader"]) // size * size
            for start in range(0, whole, size):
                yield {name: column[start : start + size] for name, column in columns.items()}
            left = {name: column[whole:] for name, column in columns.items()}


def shard_path(folder: Path, number: int) -> Path:
    return folder / f"games-{number:05d}.npz"


def open_dataset(folder: str | Path) -> Dataset:
    """The dataset in a folder; `RecordError` if there is none."""
    folder = Path(folder)
    try:
        about = json.loads((folder / ABOUT).read_text())
    except (OSError, ValueError) as error:
        raise RecordError(f"{folder} has no dataset of games: {error}") from None
    if about.get("format") != FORMAT or about.get("rules") != env.RULES_VERSION:
        raise RecordError(f"{folder} has games of another format or other rules")
    return Dataset(folder, about, tuple(sorted(folder.glob("games-*.npz"))))


def write_about(folder: Path, about: Mapping[str, Any]) -> None:
    content = {"format": FORMAT, "rules": env.RULES_VERSION, **about}
    write_whole(folder / ABOUT, (json.dumps(content, indent=1) + "\n").encode())


def write_shard(path: Path, columns: Mapping[str, np.ndarray]) -> None:
    _check(columns, path)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **columns)  # ty: ignore[invalid-argument-type]
    write_whole(path, buffer.getvalue())


def read_shard(path: Path) -> Columns:
    """The columns of a shard; `RecordError` if they are not those of one."""
    try:
        with np.load(io.BytesIO(path.read_bytes())) as file:
            columns = {name: file[name] for name in file.files}
    except (OSError, ValueError, BadZipFile) as error:
        raise RecordError(f"cannot read {path}: {error}") from None
    _check(columns, path)
    return columns


def _check(columns: Mapping[str, np.ndarray], path: Path) -> None:
    if missing := sorted(SHAPES.keys() - {"q"} - columns.keys()):
        raise RecordError(f"{path} has no column {missing[0]!r}")
    count = len(columns["leader"])
    for name, column in columns.items():
        if name not in SHAPES:
            raise RecordError(f"{path} has an unknown column {name!r}")
        shape, dtype = SHAPES[name]
        if column.shape != (count, *shape) or column.dtype != dtype:
            raise RecordError(f"{path}: {name} is {column.dtype}{list(column.shape)}")


def final_states(columns: Mapping[str, np.ndarray]) -> env.GameState:
    """The final states of games, [G], from which `game.rewind` goes back to every position.

    Raises:
      RecordError: a play is not legal, or scores are not those of the rules.
    """
    states, legal, scores = replay_scored(columns["owners"], columns["leader"], columns["plays"])
    wrong = ~np.asarray(legal).all(axis=1) | (np.asarray(scores) != columns["scores"]).any(axis=1)
    if wrong.any():
        raise RecordError(f"game {int(np.argmax(wrong))} is not one of these rules")
    return states
