"""Gongzhu as a PettingZoo environment, one agent after the other (AEC).

    from gongzhu_jax.adapters import pettingzoo_env
    env = pettingzoo_env.env()

An observation is {"observation": int8[SIZE], "action_mask": int8[52]}: what the seat may know, as
`gongzhu_jax.adapters.observation` says, and the cards that it may play now. Rewards come at the
end: to each agent the margin of its team, in points.
"""

from typing import Any

import jax
import numpy as np

from gongzhu_jax.adapters import drawing, observation
from gongzhu_jax.adapters.extras import needs_extra
from gongzhu_jax.errors import IllegalPlayError, check_choice
from gongzhu_jax.game import checks
from gongzhu_jax.game.cards import CARD_NAMES, NUM_CARDS, NUM_SEATS, SEATS, card_id
from gongzhu_jax.game.host_game import HostGame
from gongzhu_jax.game.public_view import PublicView, view
from gongzhu_jax.game.scoring import MAX_MARGIN
from gongzhu_jax.game.text import render

with needs_extra("pettingzoo"):
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers

AGENTS = tuple(f"player_{seat}" for seat in range(NUM_SEATS))
RENDER_MODES = ("ansi", "svg")


def env(render_mode: str | None = None) -> AECEnv:
    """The environment with PettingZoo's usual checks: an illegal card ends the game with the
    worst reward for who played it."""
    checked = wrappers.TerminateIllegalWrapper(raw_env(render_mode), illegal_reward=-MAX_MARGIN)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(checked))


class raw_env(AECEnv):  # noqa: N801, PettingZoo's name for it
    """The environment itself; an illegal card is an `IllegalPlayError` and changes nothing."""

    metadata: dict[str, Any] = {  # noqa: RUF012, declared so by PettingZoo
        "name": "gongzhu_v1",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
    }

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__()
        if render_mode is not None:
            check_choice("render_mode", render_mode, RENDER_MODES)
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self._random = np.random.default_rng()
        seen: dict[str, spaces.Space] = {
            "observation": spaces.Box(0, 1, (observation.SIZE,), np.int8),
            "action_mask": spaces.Box(0, 1, (NUM_CARDS,), np.int8),
        }
        self.observation_spaces = {agent: spaces.Dict(seen) for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(NUM_CARDS) for agent in AGENTS}

    def observation_space(self, agent: str) -> spaces.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new game.

        `options` may have "deal", the seat that is dealt each of the 52 cards, and "leader".
        """
        if seed is not None:
            self._random = np.random.default_rng(seed)
        deck = np.repeat(SEATS, NUM_CARDS // NUM_SEATS)
        chosen: dict[str, Any] = {
            "deal": self._random.permutation(deck).tolist(),
            "leader": int(self._random.integers(NUM_SEATS)),
        }
        chosen |= options or {}
        owners = checks.check_owners(chosen["deal"])
        leader = checks.check_seat(chosen["leader"], "leader")
        self._table = HostGame.from_owners(owners.tolist(), leader)
        self.agent_selection = AGENTS[leader]
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos = {agent: {} for agent in AGENTS}

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        mask = np.zeros(NUM_CARDS, np.int8)
        if agent == self.agent_selection:
            mask[self._table.legal()] = 1
        seen = _observe(self._table.state(), np.int8(AGENTS.index(agent)))
        return {"observation": np.asarray(seen).astype(np.int8), "action_mask": mask}

    def view(self, agent: str) -> PublicView:
        """What an agent may know, as the players of this package take it."""
        return _view(self._table.state(), np.int8(AGENTS.index(agent)))

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        card = card_id(action)
        if card not in self._table.legal():
            raise IllegalPlayError(f"{agent} may not play {CARD_NAMES[card]} now")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._table.play(card)
        self.agent_selection = AGENTS[self._table.mover]
        if self._table.is_over:
            self._finish()
        self._accumulate_rewards()

    def render(self) -> str | None:
        """The table with all hands, as text ("ansi") or as a picture ("svg")."""
        if self.render_mode == "ansi":
            return render(self._table.state())
        return drawing.to_svg(self._table.state()) if self.render_mode == "svg" else None

    def close(self) -> None:
        """There is nothing to be closed."""

    def _finish(self) -> None:
        self.rewards = dict(zip(AGENTS, self._table.margins(), strict=True))
        self.terminations = dict.fromkeys(AGENTS, True)
        points = zip(AGENTS, self._table.scores(), strict=True)
        self.infos = {agent: {"points": seat_points} for agent, seat_points in points}


_observe = jax.jit(lambda state, seat: observation.observe(view(state, seat)))
_view = jax.jit(view)
