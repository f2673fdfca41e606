"""The rules of Gongzhu on arrays (section 2 of the paper), and what each seat may know."""

from gongzhu_jax.game.cards import card_id, card_ids, card_names
from gongzhu_jax.game.checks import owners_from_hands
from gongzhu_jax.game.env import (
    RULES_VERSION,
    GameState,
    deal,
    from_owners,
    is_terminal,
    owners,
    player_to_move,
    scores,
    step,
    team_margin,
)
from gongzhu_jax.game.public_view import PublicView, check_view, legal_mask, make_view, view
from gongzhu_jax.game.replays import replay, replay_checked
from gongzhu_jax.game.text import render

__all__ = [
    "RULES_VERSION",
    "GameState",
    "PublicView",
    "card_id",
    "card_ids",
    "card_names",
    "check_view",
    "deal",
    "from_owners",
    "is_terminal",
    "legal_mask",
    "make_view",
    "owners",
    "owners_from_hands",
    "player_to_move",
    "render",
    "replay",
    "replay_checked",
    "scores",
    "step",
    "team_margin",
    "view",
]
