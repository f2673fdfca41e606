"""Why a searching player plays a card, in plain types: one explanation for people and programs."""

from typing import Any

import jax
import numpy as np

from gongzhu_jax.game.cards import CARD_NAMES, NUM_SEATS, POINT_CARDS, card_names
from gongzhu_jax.game.public_view import PublicView
from gongzhu_jax.inference.decision import Decision, effective_sample_size
from gongzhu_jax.inference.explanation import believed_holders, q_standard_error
from gongzhu_jax.players.protocol import Player
from gongzhu_jax.players.scrofazero import decision_of
from gongzhu_jax.search.racing import shares


def explain(player: Player, view: PublicView, key: jax.Array | None = None) -> dict[str, Any]:
    """What `player` thinks of the position of a view, the seat to move.

    `candidates` are the legal cards with their Q (points for the team at the end) and how far it is
    below that of the card chosen (`regret`), with standard errors over scenarios, the best first,
    none where the play is forced; `scenarios` the hands that
    were searched with their weights; `believed_owners` the probability of each seat to hold each
    point card that is not seen.
    """
    decision = jax.tree.map(np.asarray, decision_of(player, view, key))
    believed = np.asarray(believed_holders(decision.scenarios.holder, decision.weight))[0]
    hidden = [c for c in POINT_CARDS.tolist() if believed[c].sum() > 0 and not view.hand[c]]
    return {
        "player": player.name,
        "seat": int(view.seat),
        "card": CARD_NAMES[int(decision.card[0])],
        "candidates": _candidates(decision),
        "scenarios": _scenarios(decision, int(view.seat)),
        "effective_sample_size": float(effective_sample_size(decision.weight[0])),
        "believed_owners": {CARD_NAMES[c]: believed[c].round(4).tolist() for c in hidden},
    }


def _candidates(decision: Decision) -> list[dict[str, Any]]:
    q, error = decision.q[0], np.asarray(q_standard_error(decision))[0]
    regret, regret_error = _regret(decision)
    values = {"q": q, "standard_error": error, "regret": regret, "regret_error": regret_error}
    cards = sorted(np.flatnonzero(np.isfinite(q)).tolist(), key=lambda card: -q[card])
    return [
        {"card": CARD_NAMES[card], **{name: float(of[card]) for name, of in values.items()}}
        for card in cards
    ]


def _regret(decision: Decision) -> tuple[np.ndarray, np.ndarray]:
    """How far Q of each card, [52], is below Q of the card chosen, with its standard error. Cards
    are compared scenario by scenario, so the luck of the scenarios counts for little."""
    chosen, legal = int(decision.card[0]), np.isfinite(decision.q[0])
    searched = np.isfinite(decision.scenario_q[0]) & legal
    both = searched & searched[:, [chosen]]
    share = np.asarray(shares(decision.weight[..., None], both[None]))[0]
    of_scenario = np.where(searched, decision.scenario_q[0], 0.0)
    below = np.where(both, of_scenario[:, [chosen]] - of_scenario, 0.0)
    regret = np.sum(share * below, axis=0)
    return regret, np.sqrt(np.sum(np.square(share * (below - regret)), axis=0))


def _scenarios(decision: Decision, seat: int) -> list[dict[str, Any]]:
    others = [other for other in range(NUM_SEATS) if other != seat]
    rows = []
    for number in np.flatnonzero(decision.scenarios.valid[0]):
        holder = np.asarray(decision.scenarios.holder)[0, number]
        hands = {f"seat {other}": card_names(np.flatnonzero(holder == other)) for other in others}
        rows.append({"weight": float(decision.weight[0, number]), **hands})
    return sorted(rows, key=lambda row: -row["weight"])
