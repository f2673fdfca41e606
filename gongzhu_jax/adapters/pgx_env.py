"""Gongzhu as a Pgx environment: `GongzhuEnv` is a `pgx.Env`.

Actions are the 52 card ids, players the seats 0 to 3. Rewards come at the end: to each player the
margin of its team, in points. Pgx has no registry of environments, so there is no `pgx.make` of it.
"""

from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

from gongzhu_jax.adapters import drawing, observation
from gongzhu_jax.adapters.extras import needs_extra
from gongzhu_jax.errors import check_choice
from gongzhu_jax.game import checks, env
from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS, SEATS, same_team
from gongzhu_jax.game.public_view import view
from gongzhu_jax.game.scoring import MAX_MARGIN

with needs_extra("pgx"):
    import pgx
    from pgx._src.visualizer import global_config

ENV_ID: Any = "gongzhu"  # Pgx types ids as the list of its own games


@struct.dataclass
class State(pgx.State):
    """A state of Pgx around one of ours."""

    current_player: jax.Array  # [] int32, the seat to play
    observation: jax.Array  # what the current player sees
    rewards: jax.Array  # [4] float32
    terminated: jax.Array  # [] bool
    truncated: jax.Array  # [] bool, never
    legal_action_mask: jax.Array  # [52] bool; all of them at the end
    _step_count: jax.Array  # [] int32
    _x: env.GameState

    @property
    def env_id(self) -> Any:
        return ENV_ID

    def to_svg(self, *, color_theme: str | None = None, scale: float | None = None) -> str:
        """The table, all hands open; of a batch of states, all tables."""
        return drawing.to_svg(self._x, **_look(color_theme, scale))

    def save_svg(
        self, filename: Any, *, color_theme: str | None = None, scale: float | None = None
    ) -> None:
        drawing.save_svg(self._x, filename, **_look(color_theme, scale))


def _look(color_theme: str | None, scale: float | None) -> dict[str, Any]:
    """What is not said here is as `pgx.set_visualization_config` has it."""
    return {
        "theme": global_config.color_theme if color_theme is None else color_theme,
        "scale": global_config.scale if scale is None else scale,
    }


class GongzhuEnv(pgx.Env):
    """Gongzhu for four.

    Args:
      observation: "imperfect", what a seat may know, or "perfect", with the hands of the others;
        `gongzhu_jax.adapters.observation` says what they consist of.
      leader: the seat that leads the first trick; None to draw it with the deal.
    """

    def __init__(self, observation: str = "imperfect", leader: int | None = None) -> None:
        super().__init__()
        check_choice("observation", observation, ("imperfect", "perfect"))
        self._perfect = observation == "perfect"
        self._leader = None if leader is None else checks.check_seat(leader, "leader")

    @property
    def id(self) -> Any:
        return ENV_ID

    @property
    def version(self) -> str:
        return env.RULES_VERSION

    @property
    def num_players(self) -> int:
        return NUM_SEATS

    @property
    def num_actions(self) -> int:
        return NUM_CARDS

    @property
    def observation_shape(self) -> tuple[int, ...]:
        return (observation.PERFECT_SIZE if self._perfect else observation.SIZE,)

    @property
    def _illegal_action_penalty(self) -> float:
        # Not better than the worst end of a game, else it would be a way out of it.
        return -float(MAX_MARGIN)

    def from_game(self, game: env.GameState) -> State:
        """The state of Pgx at any position of a game, e.g. at the start of a given deal."""
        state: Any = self._wrap(game, jnp.zeros((), jnp.int32))
        return state.replace(observation=self.observe(state))

    def _init(self, key: jax.Array) -> State:
        deal_key, leader_key = jax.random.split(key)
        drawn = jax.random.randint(leader_key, (), 0, NUM_SEATS)
        leader = drawn if self._leader is None else self._leader
        return self._wrap(env.deal(deal_key, leader), jnp.zeros((), jnp.int32))

    def _step(self, state: Any, action: jax.Array, key: jax.Array | None) -> State:
        return self._wrap(env.step(state._x, action), state._step_count)

    def _observe(self, state: Any, player_id: jax.Array) -> jax.Array:
        if self._perfect:
            return observation.observe_all(state._x, player_id.astype(jnp.int8))
        return observation.observe(view(state._x, player_id))

    def _wrap(self, game: env.GameState, step_count: jax.Array) -> State:
        over = env.is_terminal(game)
        margin = env.team_margin(game, 0).astype(jnp.float32)
        return State(
            current_player=env.player_to_move(game).astype(jnp.int32),
            observation=jnp.zeros(self.observation_shape, bool),
            rewards=jnp.where(over, jnp.where(same_team(SEATS, 0), margin, -margin), 0.0),
            terminated=over,
            truncated=jnp.zeros((), bool),
            legal_action_mask=env.legal_mask(game) | over,
            _step_count=step_count,
            _x=game,
        )
