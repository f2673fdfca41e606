"""Gongzhu as a game of OpenSpiel, registered as "python_gongzhu" when this module is imported.

    import pyspiel
    from gongzhu_jax.adapters import openspiel_game
    game = pyspiel.load_game("python_gongzhu", {"leader": 2})

The deal is 52 chance nodes: seats 0, 1, 2, 3 get a card in turn. Then 52 plays. Actions are card
ids, returns the margin of each seat's team in points.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import jax
import numpy as np

from gongzhu_jax.adapters.extras import needs_extra
from gongzhu_jax.game import checks
from gongzhu_jax.game.cards import CARD_NAMES, NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.host_game import HostGame
from gongzhu_jax.game.public_view import PublicView
from gongzhu_jax.game.scoring import MAX_MARGIN
from gongzhu_jax.game.text import render_hand
from gongzhu_jax.inference import sampling

with needs_extra("openspiel"):
    import pyspiel

    from gongzhu_jax.adapters.openspiel_observer import Observer

NAME = "python_gongzhu"

GAME_TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="Gongzhu",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=NUM_SEATS,
    min_num_players=NUM_SEATS,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"leader": 0},
)
GAME_INFO = pyspiel.GameInfo(
    num_distinct_actions=NUM_CARDS,
    max_chance_outcomes=NUM_CARDS,
    num_players=NUM_SEATS,
    min_utility=-float(MAX_MARGIN),
    max_utility=float(MAX_MARGIN),
    utility_sum=0.0,
    max_game_length=NUM_CARDS,
)


class GongzhuGame(pyspiel.Game):
    """Gongzhu; `leader` is the seat that leads the first trick."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = params or {}
        self.leader = checks.check_seat(params.get("leader", 0), "leader")
        super().__init__(GAME_TYPE, GAME_INFO, params)

    def new_initial_state(self) -> "GongzhuState":
        return GongzhuState(self, self.leader)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        return Observer(kind, params)

    def max_chance_nodes_in_history(self) -> int:
        return NUM_CARDS


class GongzhuState(pyspiel.State):
    """A state of OpenSpiel around a game on the host."""

    def __init__(self, game: GongzhuGame, leader: int) -> None:
        super().__init__(game)
        self.table = HostGame(leader)

    def current_player(self) -> int:
        if self.table.is_over:
            return pyspiel.PlayerId.TERMINAL
        return self.table.mover if self.table.is_dealt else pyspiel.PlayerId.CHANCE

    def is_terminal(self) -> bool:
        return self.table.is_over

    def chance_outcomes(self) -> list[tuple[int, float]]:
        left = sorted(set(range(NUM_CARDS)).difference(*self.table.hands))
        return [(card, 1 / len(left)) for card in left]

    def returns(self) -> list[float]:
        return self.table.margins() if self.table.is_over else [0.0] * NUM_SEATS

    def scores(self) -> list[int]:
        """Points of each seat on what has been taken so far."""
        return self.table.scores()

    def view(self, player: int) -> PublicView:
        """What a player may know, as the players of this package take it."""
        return self.table.view(player)

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> "GongzhuState":
        """A state that `player` cannot tell from this one; all of them are equally likely."""
        key = jax.random.key(int(sampler() * 2**32))
        holder = np.asarray(_sample(key, self.view(player)))
        table = self.table.copy()
        table.redeal(holder.tolist())
        return state_of(table)

    def __str__(self) -> str:
        hands = [
            f"seat {seat}: {render_hand(np.array(hand, int))}"
            for seat, hand in enumerate(self.table.hands)
        ]
        plays = " ".join(CARD_NAMES[card] for card in self.table.plays)
        return "\n".join([*hands, f"leader {self.table.leaders[0]}, plays: {plays}"])

    def _legal_actions(self, player: int) -> list[int]:
        return self.table.legal()

    def _apply_action(self, action: int) -> None:
        if self.table.is_dealt:
            self.table.play(action)
        else:
            self.table.deal(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {CARD_NAMES[action]}" if player < 0 else CARD_NAMES[action]


pyspiel.register_game(GAME_TYPE, GongzhuGame)


def load(leader: int = 0) -> GongzhuGame:
    """The game of OpenSpiel with that leader."""
    return pyspiel.load_game(NAME, {"leader": checks.check_seat(leader, "leader")})


def state_of(table: HostGame) -> GongzhuState:
    """The state of OpenSpiel of a game that is dealt, with a history that leads there."""
    state = load(table.leaders[0]).new_initial_state()
    for action in chain(_deal_in_turn(table.owners()), table.plays):
        state.apply_action(action)
    return state


def _deal_in_turn(owners: Sequence[int]) -> Iterable[int]:
    """The 52 cards in an order in which the deal gives every seat its own."""
    hands = [[card for card in range(NUM_CARDS) if owners[card] == s] for s in range(NUM_SEATS)]
    return chain.from_iterable(zip(*hands, strict=True))


_sample = jax.jit(lambda key, view: sampling.sample(key, view, 1)[0])
