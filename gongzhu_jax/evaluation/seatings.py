"""Four players at their seats, on many deals, each deal played with the hands moved round."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypedDict

import jax
import numpy as np
from jax.sharding import Mesh

from gongzhu_jax import runtime
from gongzhu_jax.device_profile import check_sizes, profile
from gongzhu_jax.errors import ConfigError, DealError, PlayerError
from gongzhu_jax.evaluation.deals import Deals, check_seed, game_keys, random_deals
from gongzhu_jax.evaluation.games import NO_PLAYER, FinishedGames, play_games
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_SEATS
from gongzhu_jax.players.protocol import Player
from gongzhu_jax.records import Record

ProgressFn = Callable[[int, int], None]
"""(deals done, deals in all), called after every batch"""


class SeatingOptions(TypedDict, total=False):
    """The settings of a `Seating`, for functions that pass them on."""

    seed: int
    rotations: int
    batch: int | None
    chunk: int | None
    mesh: Mesh | None


@dataclass(frozen=True)
class SeatingResult:
    """What four players scored on n deals, each played R times."""

    names: tuple[str, ...]  # [4] player at each seat
    deals: Deals  # [n] those that were finished
    points: np.ndarray  # [n, R, 4] int32, of each seat
    states: env.GameState | None  # [n, R] final states on the host, if they were kept
    seconds: float  # without compilation
    interrupted: bool  # Ctrl-C came before the last deal

    @property
    def num_games(self) -> int:
        return self.points.shape[0] * self.points.shape[1]

    @property
    def games_per_second(self) -> float:
        return self.num_games / self.seconds

    def summary(self) -> dict[str, Any]:
        """How the games were played as plain types, for a results file."""
        return {
            "rotations": self.points.shape[1],
            "games": self.num_games,
            "seconds": self.seconds,
            "games_per_second": self.games_per_second,
            "interrupted": self.interrupted,
        }

    def records(self) -> list[Record]:
        """The records of all games, deal by deal. Their states must have been kept."""
        if self.states is None:
            raise ConfigError("the games were not kept; play with keep_states=True")
        records = []
        for deal, number in enumerate(self.deals.numbers.tolist()):
            for rotation, plays in enumerate(self.states.plays[deal].tolist()):
                owners, leader = rotate(self.deals.owners[deal], self.deals.leaders[deal], rotation)
                records.append(
                    Record(
                        deal=tuple(owners.tolist()),
                        leader=int(leader),
                        plays=tuple(plays),
                        players=self.names,
                        scores=tuple(self.points[deal, rotation].tolist()),
                        metadata={"deal": number, "rotation": rotation},
                    )
                )
        return records


def fitting_batch(count: int, most: int | None = None) -> int:
    """How many of `count` deals to play in one call: few get a small batch, since one that is not
    full costs as much as a full one; a power of two below `most`, so that few are compiled."""
    return min(most or profile().deals, 1 << max(count - 1, 0).bit_length())


@dataclass(frozen=True)
class Seating:
    """Four players and how they play: every deal R times, with the hands moved on in between.

    In play r every hand, and the lead, has moved r seats on; the players stay where they are.
    Results depend on players, deals and seed only, since every decision has its own key from
    (seed, deal number, r, stage): not on batch, chunk or devices, which are for speed.
    """

    seats: tuple[Player, ...]  # [4]
    seed: int = 0
    rotations: int = 2
    batch: int | None = None  # deals in one call of the compiled program; None: what suits it
    chunk: int | None = None  # decisions asked for at once, see `play_games`
    mesh: Mesh | None = None  # the devices; None for all

    def __post_init__(self) -> None:
        if len(self.seats) != NUM_SEATS:
            raise PlayerError(f"a seating has {NUM_SEATS} players, not {len(self.seats)}")
        check_seed(self.seed)
        if not 1 <= self.rotations <= NUM_SEATS:
            raise ConfigError(f"rotations must be from 1 to {NUM_SEATS}, not {self.rotations}")
        check_sizes(batch=self.batch, chunk=self.chunk)

    def play(
        self,
        deals: Deals | int,
        *,
        keep_states: bool = False,
        on_progress: ProgressFn | None = None,
    ) -> SeatingResult:
        """Plays `deals`, or that many deals of the seed.

        Ctrl-C ends the play and keeps the batches that were finished, if there is one.
        """
        deals = random_deals(self.seed, deals) if isinstance(deals, int) else deals
        if not len(deals):
            raise DealError("there are no deals to play")
        self.compile()
        started = time.perf_counter()
        batches: list[FinishedGames] = []
        try:
            for start in range(0, len(deals), self._batch):
                end = min(start + self._batch, len(deals))
                batches.append(self._play_batch(deals.part(start, end), self._seat_player))
                if on_progress is not None:
                    on_progress(end, len(deals))
        except KeyboardInterrupt:
            if not batches:
                raise
        done = min(len(batches) * self._batch, len(deals))
        shape = (done, self.rotations)
        points = np.concatenate([np.asarray(finished.points) for finished in batches])
        return SeatingResult(
            names=tuple(player.name for player in self.seats),
            deals=deals.part(0, done),
            points=points.reshape(*shape, NUM_SEATS),
            states=_joined(batches, shape) if keep_states else None,
            seconds=time.perf_counter() - started,
            interrupted=done < len(deals),
        )

    def compile(self) -> float:
        """Compiles the program if `play` has not done so yet; the seconds that it took."""
        return self._compile_seconds

    @cached_property
    def _batch(self) -> int:
        return self.batch or profile().deals

    @cached_property
    def _compile_seconds(self) -> float:
        started = time.perf_counter()
        # A batch in which nobody is asked compiles everything and takes no time to play.
        self._play_batch(random_deals(self.seed, 1), np.full(NUM_SEATS, NO_PLAYER))
        return time.perf_counter() - started

    @cached_property
    def _distinct(self) -> tuple[Player, ...]:
        """The different players, in an order that does not depend on their seats, so that another
        seating of the same players is the same program."""
        distinct = {id(player): player for player in self.seats}.values()
        return tuple(sorted(distinct, key=lambda player: (player.name, id(player))))

    @cached_property
    def _players(self) -> tuple[Player, ...]:
        """The distinct players with their parameters on the devices: once, not in every batch."""
        everywhere = runtime.on_all(self.mesh or runtime.games_mesh())
        return tuple(
            replace(player, params=jax.device_put(player.params, everywhere))
            for player in self._distinct
        )

    @cached_property
    def _seat_player(self) -> np.ndarray:
        """The index in `_players` of who sits at each seat, [4]."""
        numbers = {id(player): number for number, player in enumerate(self._distinct)}
        return np.array([numbers[id(player)] for player in self.seats], np.int8)

    def _play_batch(self, deals: Deals, seat_player: np.ndarray) -> FinishedGames:
        """The games of at most `batch` deals, deal by deal, each with its rotations in order."""
        live = len(deals) * self.rotations
        # A short batch repeats deals, with nobody at the seats: all batches have one shape.
        deal, rotation = np.divmod(np.arange(self._batch * self.rotations), self.rotations)
        filled = deal < len(deals)
        deal %= len(deals)
        owners, leaders = rotate(deals.owners[deal], deals.leaders[deal], rotation)
        finished = play_games(
            self._players,
            np.where(filled[:, None], seat_player, NO_PLAYER),
            owners,
            leaders,
            game_keys(self.seed, deals.numbers[deal], rotation),
            mesh=self.mesh,
            chunk=self.chunk,
            name_game=lambda game: f"deal {deals.numbers[deal[game]]}, rotation {rotation[game]}",
        )
        return jax.tree.map(lambda leaf: leaf[:live], finished)


def _joined(batches: list[FinishedGames], shape: tuple[int, int]) -> env.GameState:
    """The final states of all batches, [n, R]."""
    states = [finished.states for finished in batches]
    return jax.tree.map(
        lambda *leaves: np.concatenate(leaves).reshape(*shape, *leaves[0].shape[1:]), *states
    )


def rotate(owners: np.ndarray, leaders: np.ndarray, by: np.ndarray | int):
    """Deals [n, 52] and their leaders [n] with every hand, and the lead, moved on by `by` [n]."""
    by = np.asarray(by)
    return (owners + by[..., None]) % NUM_SEATS, (leaders + by) % NUM_SEATS
