"""The rules as they are explained to people."""

import re
from pathlib import Path

import gongzhu_jax
from gongzhu_jax.game.cards import card_id
from tests.arena.live_server import Arena
from tests.arena.people_driver import get
from tests.oracle.rules import score as oracle_score

GLYPHS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}


def test_the_examples_of_the_rules_are_right(people_arena: Arena) -> None:
    """On the page and in docs/rules.md, against the rules of the tests."""
    page = get(people_arena, "/static/rules.json")

    def points(cards: list[str]) -> int:
        return oracle_score([card_id(card) for card in cards])

    seats = page["game"]["seats"]
    taken = [card for seat in seats for card in seat["cards"]]
    assert len(taken) == len(set(taken)) == 16
    for example in [*seats, *page["hands"]]:
        assert points(example["cards"]) == example["points"], example
        if "sum" in example:
            text = example["sum"].replace("−", "-").replace("×", "*")  # noqa: RUF001
            assert re.fullmatch(r"[-+*() 0-9]+", text)
            assert eval(text) == example["points"]
    for value in page["values"]:
        assert [points([card]) for card in value["cards"]] == value["points"]
    assert {card for value in page["values"] for card in value["cards"]} | {"C10"} == set(taken)
    document = (Path(gongzhu_jax.__file__).parents[1] / "docs/rules.md").read_text()
    for example in [*seats, *page["hands"]]:
        cards = " ".join(GLYPHS[card[0]] + card[1:] for card in example["cards"])
        total = f"{example['points']:+d}".replace("-", "−").replace("+0", "0")  # noqa: RUF001
        how = f"{example['sum']} = {total}" if "sum" in example else total
        assert f"| {cards} | {how} |" in document
