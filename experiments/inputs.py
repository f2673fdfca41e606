"""The paper's table of inputs: the policy alone, with guessed hands and with averaged ones.

    python -m experiments.inputs checkpoint=runs/train deals=1024

The `policy` player takes the best logit, without search, against two Mr. Greeds. "onehot" gives the
network hands dealt at random, as they could be, and averages the logits over `draws` such deals;
"averaged" gives it 1/3 of every unseen card at each of the other seats. All rows are played on the
same deals. The result has `rows` by name, each with what `experiments.evaluate` says of a match
and, but for the first, `over_first`: the difference to the first on the same deals; `interrupted`.
"""

import sys
from dataclasses import dataclass
from typing import Any

from experiments.cli import command, finish
from experiments.comparison import Pairing, compare
from experiments.results import points, print_table
from experiments.settings import PlaySettings
from gongzhu_jax import players

KINDS: dict[str, dict[str, Any]] = {
    "onehot, one deal": {"inputs": "onehot", "draws": 1},
    "onehot, mean of 5 deals": {"inputs": "onehot", "draws": 5},
    "averaged": {"inputs": "averaged"},
}
FIRST = next(iter(KINDS))
PAPER = {FIRST: "1 ± 16", "averaged": "7 ± 4.6"}


@dataclass(frozen=True, kw_only=True)
class InputsSettings(PlaySettings):
    checkpoint: str | None


@command("inputs", InputsSettings)
def main(settings: InputsSettings, line: str) -> int:
    greed = players.make("greed")
    comparison = compare(
        [
            Pairing(name, players.make("policy", checkpoint=settings.checkpoint, **own), greed)
            for name, own in KINDS.items()
        ],
        settings,
    )
    rows = {name: dict(row) for name, row in comparison.rows.items()}
    for name, row in rows.items():
        if name != FIRST:
            row["over_first"] = comparison.difference(name, FIRST).summary()
    print_table("the policy alone, points over two Mr. Greeds", [_row(*i) for i in rows.items()])
    result = {"rows": rows, "interrupted": comparison.interrupted}
    return finish("inputs", result, settings, line)


def _row(name: str, row: dict[str, Any]) -> dict[str, str]:
    over = row.get("over_first")
    return {
        "what": name,
        "points": points(row),
        "more than the first": points(over) if over else "",
        "paper": PAPER.get(name, ""),
    }


if __name__ == "__main__":
    sys.exit(main())
