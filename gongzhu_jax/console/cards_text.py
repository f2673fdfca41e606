"""Cards drawn with characters."""

from collections.abc import Sequence

from gongzhu_jax.game.cards import CARD_NAMES

SYMBOLS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}
RED = "\x1b[31m{}\x1b[0m"


def show(card: str, color: bool = False) -> str:
    """A card as people write it: "♠Q"."""
    text = SYMBOLS[card[0]] + card[1:]
    return RED.format(text) if color and card[0] in "HD" else text


def draw(cards: Sequence[str], color: bool = False) -> str:
    """Cards side by side, in the order of suits and ranks."""
    ordered = sorted(cards, key=CARD_NAMES.index)
    rows: list[list[str]] = [[], [], [], []]
    for card in ordered:
        suit = SYMBOLS[card[0]]
        shown = RED.format(suit) if color and card[0] in "HD" else suit
        for row, text in zip(
            rows, ("┌───┐", f"│{card[1:]:<3}│", f"│ {shown} │", "└───┘"), strict=True
        ):
            row.append(text)
    return "\n".join("".join(row) for row in rows)
