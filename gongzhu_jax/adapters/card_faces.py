"""The faces of the 52 cards, their back, and small chips of them, as SVG to be referred to."""

import functools

from gongzhu_jax.game.cards import CARD_NAMES, PIG, RANK_NAMES, SHEEP, TRANSFORMER

CARD_WIDTH, CARD_HEIGHT = 44, 62
CHIP_WIDTH, CHIP_HEIGHT = 32, 19

_SYMBOLS = "♠♥♦♣"
_COLOURS = ("#111111", "#c01818", "#c01818", "#111111")
# The cards that the game is about are told from the others at a glance.
_PAPER = {PIG: "#ffd9df", SHEEP: "#d9ecff", TRANSFORMER: "#e4f5d4"}
_EDGE = "#666666"


@functools.cache
def definitions() -> str:
    """All faces: `card-SQ` and so on, `chip-SQ` and so on, and `card-back`.

    The same in every drawing, so that several on one page do not disturb each other.
    """
    parts = [_back()]
    for card in range(len(CARD_NAMES)):
        parts += [_card(card), _chip(card)]
    return "\n".join(["<defs>", *parts, "</defs>"])


def _card(card: int) -> str:
    suit, rank = divmod(card, len(RANK_NAMES))
    colour, symbol = _COLOURS[suit], _SYMBOLS[suit]
    # Suit both below and beside the rank: one of them is seen in a row, the other in a column.
    return (
        f'<g id="card-{CARD_NAMES[card]}">{_paper(CARD_WIDTH, CARD_HEIGHT, _fill(card))}'
        f'<text fill="{colour}" text-anchor="middle">'
        f'<tspan x="12" y="17" font-size="15" font-weight="bold">{RANK_NAMES[rank]}</tspan>'
        f'<tspan x="12" y="33" font-size="15">{symbol}</tspan>'
        f'<tspan x="33" y="17" font-size="15">{symbol}</tspan>'
        f'<tspan x="33" y="55" font-size="18">{symbol}</tspan></text></g>'
    )


def _chip(card: int) -> str:
    suit, rank = divmod(card, len(RANK_NAMES))
    return (
        f'<g id="chip-{CARD_NAMES[card]}">{_paper(CHIP_WIDTH, CHIP_HEIGHT, _fill(card))}'
        f'<text x="{CHIP_WIDTH / 2:g}" y="14" font-size="13" text-anchor="middle" '
        f'fill="{_COLOURS[suit]}">{_SYMBOLS[suit]}{RANK_NAMES[rank]}</text></g>'
    )


def _back() -> str:
    inner = (
        f'<rect x="5" y="5" width="{CARD_WIDTH - 10}" height="{CARD_HEIGHT - 10}" rx="3" '
        f'fill="none" stroke="#ffffff"/>'
    )
    return f'<g id="card-back">{_paper(CARD_WIDTH, CARD_HEIGHT, "#4a6a8a")}{inner}</g>'


def _fill(card: int) -> str:
    return _PAPER.get(card, "#ffffff")


def _paper(width: int, height: int, fill: str) -> str:
    return f'<rect width="{width}" height="{height}" rx="4" fill="{fill}" stroke="{_EDGE}"/>'
