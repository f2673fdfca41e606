"""Four classical players at one table: the points of a seat, beside those of the original programs.

    python -m experiments.paper.classical

Every hand visits every seat. Points are also counted as if C10 alone counted nothing. The result
has `blocks` by row: sums over blocks of deals of points and their squares (count, points, square,
without_c10), [blocks]. Matches of these players are those of `experiments.round_robin`.
"""

import jax
import numpy as np

from experiments.common.blocks import in_blocks
from experiments.common.cli import Result, experiment
from experiments.common.progress import progress
from experiments.common.results import Workplace
from experiments.common.settings import PlaySettings
from gongzhu_jax import players
from gongzhu_jax.evaluation import Seating, SeatingResult
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_SEATS

ROWS = {  # name of the row: the players of the four seats, and whose points it has
    "random of four random": (("random",) * 4, "random"),
    "if of four if": (("if",) * 4, "if"),
    "if against three random": (("if", "random", "random", "random"), "if"),
    "random, three against one if": (("if", "random", "random", "random"), "random"),
}


def run(settings: PlaySettings, work: Workplace) -> Result:
    deals = settings.choose_deals().deals
    made = {name: players.make(name) for name in ("random", "if")}
    options = settings.seating_options()
    options["rotations"] = NUM_SEATS
    played: dict[tuple[str, ...], SeatingResult] = {}
    for seats in {seats: None for seats, _ in ROWS.values()}:
        with progress(" ".join(seats)) as on_progress:
            seating = Seating(tuple(made[player] for player in seats), **options)
            played[seats] = seating.play(deals, keep_states=True, on_progress=on_progress)
        if played[seats].interrupted:
            raise KeyboardInterrupt
    blocks = {name: seat_blocks(played[seats], who) for name, (seats, who) in ROWS.items()}
    return {"deals": len(deals), "blocks": blocks}


def seat_blocks(played: SeatingResult, who: str) -> dict[str, list]:
    """Sums over blocks of deals of the points of one seat in one game."""
    here = np.array(played.names) == who
    # The points if C10 without another point card counted nothing, [deals, rotations, 4].
    score = jax.jit(jax.vmap(jax.vmap(lambda final: env.scores(final, lone_transformer=0))))
    points = played.points[..., here].reshape(len(played.deals), -1)  # [deals, games and seats]
    plain = np.asarray(score(played.states))[..., here].reshape(points.shape)
    return in_blocks(
        {
            "count": np.full(len(points), points.shape[1]),
            "points": points.sum(axis=1),
            "square": np.square(points).sum(axis=1),
            "without_c10": plain.sum(axis=1),
        }
    )


main = experiment("paper/classical", PlaySettings, run)

if __name__ == "__main__":
    raise SystemExit(main())
