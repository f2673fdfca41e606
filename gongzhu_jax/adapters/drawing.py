"""A table as a picture: hands, trick, taken point cards and scores, as SVG without any library.

A state shows all hands, a view only that of its own seat. Seat 0 sits at the bottom, and play goes
round clockwise.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gongzhu_jax.adapters import card_faces
from gongzhu_jax.adapters.card_faces import CARD_HEIGHT, CARD_WIDTH, CHIP_HEIGHT, CHIP_WIDTH
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.files import write_whole
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import CARD_NAMES, NO_CARD, NUM_CARDS, NUM_SEATS, POINT_CARDS
from gongzhu_jax.game.public_view import PublicView
from gongzhu_jax.game.scoring import score_cards

Position = env.GameState | PublicView

WIDTH, HEIGHT = 720, 640
BACK = "back"
FONT = "DejaVu Sans, Arial, sans-serif"

_MARGIN = 14
_STEP = 25  # from card to card of a hand: the corner with the name stays to be seen
_CHIPS_IN_LINE = 8


@dataclass(frozen=True)
class Theme:
    """Colours of all but the cards."""

    table: str
    text: str
    teams: tuple[str, str]


THEMES = {
    "light": Theme(table="#e7efe6", text="#1c2b20", teams=("#1f5fa8", "#a3461d")),
    "dark": Theme(table="#1d2a23", text="#e4ece6", teams=("#8fc0ff", "#ffb38a")),
}


@dataclass(frozen=True)
class _Place:
    """Where the things of one seat are."""

    hand: tuple[float, float]  # middle of the hand
    step: tuple[float, float]  # from card to card of it
    trick: tuple[float, float]  # middle of the card on the table
    label: tuple[float, float, str]  # point and anchor of the text
    chips: tuple[float, float]  # corner of the first taken card
    chip_step: tuple[float, float]  # from one to the next
    chip_line: tuple[float, float]  # from one line of them to the next


def _places() -> tuple[_Place, ...]:
    x, y = WIDTH / 2, HEIGHT / 2
    side, top = _MARGIN + CARD_WIDTH / 2, _MARGIN + CARD_HEIGHT / 2
    gap_x, gap_y = CHIP_WIDTH + 3, CHIP_HEIGHT + 3
    row, column = (m - (_CHIPS_IN_LINE * gap - 3) / 2 for m, gap in ((x, gap_x), (y, gap_y)))
    beside, below = _MARGIN + CARD_WIDTH + 12, _MARGIN + CARD_HEIGHT + 30
    label_y = y - 6 * _STEP - CARD_HEIGHT / 2 - 12
    return (
        _Place(
            hand=(x, HEIGHT - top),
            step=(_STEP, 0),
            trick=(x, y + 52),
            label=(x, HEIGHT - below + 18, "middle"),
            chips=(row, HEIGHT - below - CHIP_HEIGHT),
            chip_step=(gap_x, 0),
            chip_line=(0, -gap_y),
        ),
        _Place(
            hand=(side, y),
            step=(0, _STEP),
            trick=(x - 62, y),
            label=(_MARGIN, label_y, "start"),
            chips=(beside, column),
            chip_step=(0, gap_y),
            chip_line=(gap_x, 0),
        ),
        _Place(
            hand=(x, top),
            step=(_STEP, 0),
            trick=(x, y - 52),
            label=(x, below - 8, "middle"),
            chips=(row, below),
            chip_step=(gap_x, 0),
            chip_line=(0, gap_y),
        ),
        _Place(
            hand=(WIDTH - side, y),
            step=(0, _STEP),
            trick=(x + 62, y),
            label=(WIDTH - _MARGIN, label_y, "end"),
            chips=(WIDTH - beside - CHIP_WIDTH, column),
            chip_step=(0, gap_y),
            chip_line=(-gap_x, 0),
        ),
    )


_PLACES = _places()


def to_svg(game: Position, *, theme: str = "light", scale: float = 1.0) -> str:
    """One table, or a batch of them in a grid."""
    colours = find_theme(theme)
    games = _unbatched(game)
    columns = int(np.ceil(np.sqrt(len(games))))
    rows = -(-len(games) // columns)
    tables = [
        f'<g transform="translate({number % columns * WIDTH} {number // columns * HEIGHT})">'
        f"{table_group(one, colours)}</g>"
        for number, one in enumerate(games)
    ]
    return _document(tables, columns, rows, scale)


def save_svg(
    game: Position, path: str | os.PathLike[str], *, theme: str = "light", scale: float = 1.0
) -> None:
    """Writes `to_svg` to a file whose name ends in .svg."""
    _write(path, to_svg(game, theme=theme, scale=scale))


def to_animation(
    games: Sequence[Position], *, seconds: float = 0.8, theme: str = "light", scale: float = 1.0
) -> str:
    """The tables one after the other, `seconds` each, over and over.

    A program that shows no animations shows the last one.
    """
    if not games:
        raise ConfigError("an animation needs at least one table")
    if seconds <= 0:
        raise ConfigError(f"seconds must be above 0, not {seconds}")
    colours = find_theme(theme)
    frames = [
        f'<g display="{"inline" if number == len(games) - 1 else "none"}">'
        f"{_shown(number, len(games), seconds)}{table_group(game, colours)}</g>"
        for number, game in enumerate(games)
    ]
    return _document(frames, 1, 1, scale)


def save_animation(
    games: Sequence[Position],
    path: str | os.PathLike[str],
    *,
    seconds: float = 0.8,
    theme: str = "light",
    scale: float = 1.0,
) -> None:
    """Writes `to_animation` to a file whose name ends in .svg."""
    _write(path, to_animation(games, seconds=seconds, theme=theme, scale=scale))


def find_theme(name: str) -> Theme:
    """A theme by name; `ConfigError` if there is none."""
    if name not in THEMES:
        raise ConfigError(f"unknown theme {name!r}; there are {', '.join(THEMES)}")
    return THEMES[name]


def table_group(game: Position, theme: Theme) -> str:
    """The elements of one table, to be put where `card_faces.definitions` are known."""
    lines = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{theme.table}"/>']
    points = np.asarray(score_cards(game.taken_by)).tolist()
    stage = int(game.stage)
    mover = _mover(game) if stage < NUM_CARDS else None
    for seat, place in enumerate(_PLACES):
        lines += _hand(_names(game, seat), place)
        taken = np.flatnonzero(np.asarray(game.taken_by) == seat)
        lines += _chips([card for card in taken if card in POINT_CARDS], place)
        tricks = len(taken) // NUM_SEATS
        text = f"seat {seat}: {points[seat]}, {tricks} trick{'' if tricks == 1 else 's'}"
        lines.append(_label(text, theme.teams[seat % 2], seat == mover, place))
    return "\n".join([*lines, *_trick(game), *_title(stage, points, theme)])


def _mover(game: Position) -> int:
    return int(game.to_move) if isinstance(game, PublicView) else int(env.player_to_move(game))


def _names(game: Position, seat: int) -> list[str]:
    """The cards of a hand as they are shown: by suit, or their backs."""
    if not isinstance(game, PublicView):
        cards = np.flatnonzero(np.asarray(game.holder) == seat)
    elif seat == int(game.seat):
        cards = np.flatnonzero(np.asarray(game.hand))
    else:
        return [BACK] * int(game.hand_sizes[seat])
    return [CARD_NAMES[card] for card in cards]


def _hand(names: list[str], place: _Place) -> list[str]:
    (x, y), (dx, dy) = place.hand, place.step
    first = -(len(names) - 1) / 2
    return [
        _card(name, x + (first + number) * dx, y + (first + number) * dy)
        for number, name in enumerate(names)
    ]


def _trick(game: Position) -> list[str]:
    cards = [int(card) for card in np.asarray(game.trick) if card != NO_CARD]
    leader = (_mover(game) - len(cards)) % NUM_SEATS
    return [
        _card(CARD_NAMES[card], *_PLACES[(leader + number) % NUM_SEATS].trick)
        for number, card in enumerate(cards)
    ]


def _chips(cards: list[int], place: _Place) -> list[str]:
    lines = []
    for number, card in enumerate(cards):
        line, along = divmod(number, _CHIPS_IN_LINE)
        x, y = (
            corner + along * step + line * next_line
            for corner, step, next_line in zip(
                place.chips, place.chip_step, place.chip_line, strict=True
            )
        )
        lines.append(f'<use href="#chip-{CARD_NAMES[card]}" x="{x:g}" y="{y:g}"/>')
    return lines


def _label(text: str, colour: str, to_move: bool, place: _Place) -> str:
    x, y, anchor = place.label
    weight, mark = ("bold", "\N{BLACK RIGHT-POINTING TRIANGLE} ") if to_move else ("normal", "")
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="15" font-weight="{weight}" '
        f'text-anchor="{anchor}" fill="{colour}">{mark}{text}</text>'
    )


def _title(stage: int, points: list[int], theme: Theme) -> list[str]:
    played = "end" if stage == NUM_CARDS else f"trick {stage // NUM_SEATS + 1}"
    lines = [(played, theme.text)]
    for team in range(2):
        total = points[team] + points[team + 2]
        lines.append((f"seats {team} and {team + 2}: {total}", theme.teams[team]))
    return [
        f'<text x="{_MARGIN}" y="{30 + 18 * number}" font-size="14" fill="{colour}">{text}</text>'
        for number, (text, colour) in enumerate(lines)
    ]


def _card(name: str, x: float, y: float) -> str:
    return f'<use href="#card-{name}" x="{x - CARD_WIDTH / 2:g}" y="{y - CARD_HEIGHT / 2:g}"/>'


def _shown(number: int, count: int, seconds: float) -> str:
    """When a frame is to be seen."""
    if count == 1:
        return ""
    times, values = [0.0], ["inline" if number == 0 else "none"]
    if number > 0:
        times, values = [*times, number / count], [*values, "inline"]
    if number < count - 1:
        times, values = [*times, (number + 1) / count], [*values, "none"]
    return (
        f'<animate attributeName="display" calcMode="discrete" dur="{count * seconds:g}s" '
        f'repeatCount="indefinite" keyTimes="{";".join(f"{time:.6g}" for time in times)}" '
        f'values="{";".join(values)}"/>'
    )


def _document(groups: Iterable[str], columns: int, rows: int, scale: float) -> str:
    if scale <= 0:
        raise ConfigError(f"scale must be above 0, not {scale}")
    width, height = columns * WIDTH, rows * HEIGHT
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * scale:g}" '
        f'height="{height * scale:g}" viewBox="0 0 {width} {height}" '
        f'font-family="{FONT}">'
    )
    return "\n".join([head, card_faces.definitions(), *groups, "</svg>", ""])


def _unbatched(game: Position) -> list[Position]:
    """The tables of a batch, or the only one."""
    if np.ndim(game.stage) == 0:
        return [game]
    fields = {name: np.asarray(leaf) for name, leaf in vars(game).items()}
    count = len(fields["stage"])
    return [type(game)(**{name: leaf[i] for name, leaf in fields.items()}) for i in range(count)]


def _write(path: str | os.PathLike[str], text: str) -> None:
    if Path(path).suffix != ".svg":
        raise ConfigError(f"a drawing is written to a file that ends in .svg, not to {path}")
    write_whole(path, text.encode())
