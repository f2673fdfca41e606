"""The classical players against each other, for comparison with the published strengths.

    python -m experiments.classical

The result has `matches` by name ("greed-if"), each with what `experiments.evaluate` says of a
match, `tables` by the four players ("if random random random"), each with `points` by player:
mean, standard_error (over deals) and interval_95 of the points of one seat in one game and their
sd over games, `points_lone_c10_as_0`, the same if C10 alone counted nothing, and `interrupted`.
"""

import sys
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from experiments.cli import command, finish
from experiments.progress import progress
from experiments.results import print_table
from experiments.settings import ClassicalSettings
from gongzhu_jax import players
from gongzhu_jax.evaluation import Seating, SeatingResult, estimate, play_match
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_SEATS

MATCHES = (("if", "random"), ("greed", "random"), ("greed", "if"))
TABLES = (
    ("random", "random", "random", "random"),
    ("if", "if", "if", "if"),
    ("if", "random", "random", "random"),
)


@command("classical", ClassicalSettings)
def main(settings: ClassicalSettings, line: str) -> int:
    result: dict[str, Any] = {"matches": {}, "tables": {}, "interrupted": False}
    try:
        for kind, name, summary in measurements(settings):
            result[kind][name] = summary
            if summary["interrupted"]:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        if not result["matches"]:
            raise
        result["interrupted"] = True
    print_table("points of a deal, or of a seat in a game", rows(result))
    return finish("classical", result, settings, line)


def measurements(settings: ClassicalSettings) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(matches or tables, name, summary), one after the other."""
    deals, options = settings.draw_deals(), settings.seating_options()
    made = {name: players.make(name) for name in ("random", "if", "greed")}
    for first, second in MATCHES:
        name = f"{first}-{second}"
        with progress(name) as on_progress:
            match = play_match(made[first], made[second], deals, on_progress=on_progress, **options)
        yield "matches", name, match.summary()
    options["rotations"] = NUM_SEATS  # every hand visits every seat
    for seats in TABLES:
        name = " ".join(seats)
        seating = Seating(tuple(made[player] for player in seats), **options)
        with progress(name) as on_progress:
            played = seating.play(deals, keep_states=True, on_progress=on_progress)
        found = {
            "points": seat_points(played.names, played.points),
            "points_lone_c10_as_0": seat_points(played.names, points_lone_c10_as_0(played)),
        }
        yield "tables", name, found | played.summary()


def points_lone_c10_as_0(played: SeatingResult) -> np.ndarray:
    """[n, R, 4]: the points if C10 without another point card counted nothing."""
    score = jax.jit(jax.vmap(jax.vmap(lambda final: env.scores(final, lone_transformer=0))))
    return np.asarray(score(played.states))


def seat_points(names: tuple[str, ...], seats: np.ndarray) -> dict[str, dict[str, Any]]:
    """For each player the points of one seat in one game, from those of all seats, [n, R, 4]."""
    found = {}
    for player in dict.fromkeys(names):
        points = seats[..., np.array(names) == player]  # [n, R, seats]
        summary = estimate(points.mean(axis=(1, 2))).summary()
        found[player] = {**summary, "sd": float(points.std())}
    return found


def rows(result: dict[str, Any]) -> list[dict[str, str]]:
    """Lines of a table for the terminal."""
    found = [(name, summary) for name, summary in result["matches"].items()]
    for name, summary in result["tables"].items():
        found += [(f"{player} of {name}", points) for player, points in summary["points"].items()]
    return [
        {
            "what": name,
            "points": f"{summary['mean']:.1f} +- {summary['standard_error'] or np.nan:.1f}",
            "sd": f"{summary['sd']:.1f}" if "sd" in summary else "",
            "deals": str(summary["deals"]),
        }
        for name, summary in found
    ]


if __name__ == "__main__":
    sys.exit(main())
