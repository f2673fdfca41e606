"""What options mean: read from the comments at the fields of the settings, their one home."""

import ast
import inspect
import io
import textwrap
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from gongzhu_jax import players
from gongzhu_jax.players import registry

FILES = {
    "checkpoint": "network: a run's folder (its best checkpoint is taken), one checkpoint, or a "
    "weights file; none: the shipped one",
    "belief": "weights file of the card belief; none: the shipped one",
    "opponent_model": "weights file of the opponent model; none: the shipped one",
    "distilled": "weights file of the distilled policy; none: the shipped one",
}
"""Options that name files are arguments of functions, not fields."""


class Option(NamedTuple):
    """One option as a user reads about it."""

    name: str  # dotted, as it is written on a command line
    default: Any
    meaning: str  # empty if nothing is written at the field


def field_comments(kind: type) -> dict[str, str]:
    """What is written at each field of a dataclass: at the end of its line, in lines of comment
    above it, or in a string below it. Fields of base classes are included."""
    explained: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if is_dataclass(base):
            explained |= _comments_in(textwrap.dedent(inspect.getsource(base)))
    return explained


def _comments_in(source: str) -> dict[str, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {t.start[0]: t for t in tokens if t.type == tokenize.COMMENT}
    alone = {
        number for number, token in comments.items() if not token.line[: token.start[1]].strip()
    }
    body: list[ast.stmt] = ast.parse(source).body[0].body  # ty: ignore[missing-attribute]
    explained = {}
    for field, after in zip(body, [*body[1:], None], strict=True):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        first = field.lineno
        while first - 1 in alone:
            first -= 1
        lines = [n for n in range(first, field.end_lineno + 1) if n in comments]  # ty: ignore
        text = " ".join(comments[n].string.lstrip("# ") for n in lines)
        below = after.value if isinstance(after, ast.Expr) else None
        if isinstance(below, ast.Constant) and isinstance(below.value, str):
            text = " ".join([text, *below.value.split()]).strip()
        explained[field.target.id] = text
    return explained


def config_options(config: Any, prefix: str = "") -> Iterator[Option]:
    """All options of nested settings, a dataclass object."""
    meanings = field_comments(type(config))
    for field in fields(config):
        value, name = getattr(config, field.name), prefix + field.name
        if is_dataclass(value):
            yield from config_options(value, f"{name}.")
        else:
            yield Option(name, value, meanings.get(field.name, ""))


def player_options(name: str) -> list[Option]:
    """The options of one of our players."""
    entry = registry.find_entry(name)
    settable = set(players.option_names(name))
    rows = [option for option in config_options(entry.config) if option.name in settable]
    return rows + [Option(file, None, FILES[file]) for file in entry.files]


def main(arguments: Sequence[str]) -> int:
    """`gongzhu players [NAME]`: all players, or one with its options."""
    if not arguments:
        print("\n".join(players.names()))
        print("or module:function for one of your own; `gongzhu players NAME` lists options")
        return 0
    for name in arguments:
        print(name)
        for option in player_options(name):
            shown = "none" if option.default is None else option.default
            print(f"  {option.name} = {shown}")
            print(textwrap.indent(textwrap.fill(option.meaning, 90), "      "))
    return 0
