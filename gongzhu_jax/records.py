"""Finished games as JSON lines, one game a line, and their replay.

    {"rules": "gongzhu-1", "deal": [2, 0, ...], "leader": 2, "plays": ["C5", "CJ", ...],
     "players": ["a", "b", "c", "d"], "scores": [0, -160, -60, -60], "metadata": {}}

`deal` is the seat that was dealt each of the 52 cards. Files that end in .gz are compressed.
`python -m gongzhu_jax.records FILE...` replays files and says what is wrong in them.
"""

import gzip
import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from gongzhu_jax.errors import CardError, DealError, GongzhuError, IllegalPlayError, RecordError
from gongzhu_jax.files import write_whole
from gongzhu_jax.game import checks, env
from gongzhu_jax.game.cards import CARD_NAMES, NUM_CARDS, NUM_SEATS, card_id
from gongzhu_jax.game.replays import raise_if_illegal, replay_scored

FIELDS = ("rules", "deal", "leader", "plays", "players", "scores", "metadata")


@dataclass(frozen=True)
class Record:
    """One finished game in plain Python types."""

    deal: tuple[int, ...]  # [52] seat that was dealt each card
    leader: int
    plays: tuple[int, ...]  # [52] card ids in the order played
    players: tuple[str, ...]  # [4]
    scores: tuple[int, ...]  # [4]
    metadata: dict[str, Any] = field(default_factory=dict)  # anything that JSON can hold
    source: str = field(default="", compare=False)  # "FILE:LINE" if it was read; for messages


@dataclass(frozen=True)
class Replayed:
    """What the rules make of a record."""

    winners: tuple[int, ...]  # [13] seat that took each trick
    scores: tuple[int, ...]  # [4]


# writing and reading


def write(path: str | os.PathLike[str], records: Iterable[Record]) -> None:
    """Writes a whole file, or nothing: what is there already stays until the new one is complete.

    Raises `RecordError` for a record that `read` would not take back.
    """
    lines = []
    for number, record in enumerate(records, start=1):
        try:
            line = to_line(record)
            parse(line)
        except (GongzhuError, TypeError, ValueError) as error:
            raise RecordError(f"record {number} cannot be written: {error}") from error
        lines.append(line + "\n")
    data = "".join(lines).encode()
    # Without a time stamp equal games give equal files.
    write_whole(path, gzip.compress(data, mtime=0) if Path(path).suffix == ".gz" else data)


def read(path: str | os.PathLike[str]) -> list[Record]:
    """All records of a file. Only their form is checked; `replay_records` checks the games.

    Raises `RecordError` "FILE:LINE: [play N:] reason" for the first line that is no record.
    """
    entries = list(_entries(path))
    return _raise_first(entries)


def parse(line: str) -> Record:
    """The record in one line of JSON; `RecordError` says what is wrong with its form."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not JSON: {error}") from error
    _check_fields(fields)
    try:
        deal = checks.check_owners(_sequence(fields, "deal", None))
        leader = checks.check_seat(fields["leader"], "leader")
    except DealError as error:
        raise RecordError(str(error)) from error
    players = _sequence(fields, "players", NUM_SEATS)
    if not all(isinstance(name, str) for name in players):
        raise RecordError(f"players must be {NUM_SEATS} names, not {players!r}")
    scores = _sequence(fields, "scores", NUM_SEATS)
    if not all(isinstance(points, int) and not isinstance(points, bool) for points in scores):
        raise RecordError(f"scores must be {NUM_SEATS} whole numbers, not {scores!r}")
    if not isinstance(fields["metadata"], dict):
        raise RecordError(f"metadata must be an object, not {fields['metadata']!r}")
    return Record(
        deal=_ints(deal),
        leader=leader,
        plays=_parse_plays(_sequence(fields, "plays", None)),
        players=tuple(players),
        scores=tuple(scores),
        metadata=fields["metadata"],
    )


def to_line(record: Record) -> str:
    fields = {
        "rules": env.RULES_VERSION,
        "deal": record.deal,
        "leader": record.leader,
        "plays": [CARD_NAMES[card_id(card)] for card in record.plays],
        "players": record.players,
        "scores": record.scores,
        "metadata": record.metadata,
    }
    return json.dumps(fields, allow_nan=False)


def _check_fields(fields: Any) -> None:
    if not isinstance(fields, dict):
        raise RecordError(f"a record is a JSON object, not {type(fields).__name__}")
    # The version comes first: records of other rules may have other fields.
    if "rules" in fields and fields["rules"] != env.RULES_VERSION:
        raise RecordError(f"rules version {fields['rules']!r}, not {env.RULES_VERSION!r}")
    for name in FIELDS:
        if name not in fields:
            raise RecordError(f"field {name!r} is missing")
    for name in fields:
        if name not in FIELDS:
            raise RecordError(f"unknown field {name!r}; the fields are {', '.join(FIELDS)}")


def _sequence(fields: dict[str, Any], name: str, length: int | None) -> list[Any]:
    value = fields[name]
    if not isinstance(value, list):
        raise RecordError(f"{name} must be a list, not {value!r}")
    if length is not None and len(value) != length:
        raise RecordError(f"{name} must have {length} entries, not {len(value)}")
    return value


def _parse_plays(plays: list[Any]) -> tuple[int, ...]:
    cards = []
    for number, card in enumerate(plays, start=1):
        try:
            cards.append(card_id(card))
        except CardError as error:
            raise RecordError(f"play {number}: {error}") from error
    if len(cards) < NUM_CARDS:
        missing = len(cards) + 1
        raise RecordError(f"play {missing}: missing; the record stops after {len(cards)} plays")
    if len(cards) > NUM_CARDS:
        raise RecordError(f"play {NUM_CARDS + 1}: one too many; a game has {NUM_CARDS} plays")
    return tuple(cards)


def _entries(path: str | os.PathLike[str]) -> Iterator[Record | RecordError]:
    """What each line of a file is: a record, or what is wrong with it."""
    for number, line in enumerate(read_lines(path), start=1):
        source = f"{os.fspath(path)}:{number}"
        try:
            yield replace(parse(line), source=source)
        except RecordError as error:
            located = RecordError(f"{source}: {error}")
            located.__cause__ = error.__cause__ or error
            yield located


def read_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """The lines of a text file, which may be compressed; `RecordError` if it cannot be read."""
    opener = gzip.open if Path(path).suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            yield from file
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RecordError(f"{os.fspath(path)}: cannot be read: {reason}") from error


# replaying


def replay_records(records: Sequence[Record]) -> list[Replayed]:
    """Replays many records at once; `RecordError` for the first that is not what happened."""
    return _raise_first(check_records(records))


def check_records(records: Sequence[Record]) -> list[Replayed | RecordError]:
    """Replays many records at once: for each the outcome, or what is wrong with it."""
    if not records:
        return []
    # Sizes that are powers of two: few shapes, so few compilations.
    padding = (1 << (len(records) - 1).bit_length()) - len(records)
    padded = [*records, *[records[0]] * padding]
    state, legal, scores = jax.device_get(
        replay_scored(
            np.array([record.deal for record in padded], np.int8),
            np.array([record.leader for record in padded], np.int8),
            np.array([record.plays for record in padded], np.int8),
        )
    )
    return [
        _outcome(record, i, jax.tree.map(lambda leaf, i=i: leaf[i], state), legal[i], scores[i])
        for i, record in enumerate(records)
    ]


def _outcome(
    record: Record, index: int, state: env.GameState, legal: np.ndarray, scores: np.ndarray
) -> Replayed | RecordError:
    where = record.source or f"record {index + 1}"
    try:
        raise_if_illegal(np.array(record.deal), list(record.plays), state, legal)
    except IllegalPlayError as error:
        wrong = RecordError(f"{where}: {error}")
        wrong.__cause__ = error
        return wrong
    outcome = Replayed(winners=_ints(state.leaders[1:]), scores=_ints(scores))
    if outcome.scores != record.scores:
        recorded, played = list(record.scores), list(outcome.scores)
        return RecordError(f"{where}: play {NUM_CARDS}: scores are {played}, not {recorded}")
    return outcome


def _raise_first(entries: list[Any]) -> list[Any]:
    for entry in entries:
        if isinstance(entry, RecordError):
            raise entry
    return entries


def _ints(values: Any) -> tuple[int, ...]:
    return tuple(np.asarray(values).tolist())


# the command


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code 0: all right; 1: a record is wrong; 2: no file named, or one cannot be read."""
    files = list(sys.argv[1:] if argv is None else argv)
    if not files or any(name.startswith("-") for name in files):
        print("usage: python -m gongzhu_jax.records FILE...", file=sys.stderr)
        return 2
    return max([_report(name) for name in files])


def _report(name: str) -> int:
    try:
        entries: list[Any] = list(_entries(name))
    except RecordError as error:
        print(error, file=sys.stderr)
        return 2
    records = [entry for entry in entries if isinstance(entry, Record)]
    outcomes = iter(check_records(records))
    wrong = 0
    for line, entry in enumerate(entries, start=1):
        result = next(outcomes) if isinstance(entry, Record) else entry
        if isinstance(result, RecordError):
            wrong += 1
            print(result, file=sys.stderr)
        else:
            tricks = "".join(map(str, result.winners))
            print(f"{name}:{line}: tricks {tricks} scores {' '.join(map(str, result.scores))}")
    print(f"{name}: {len(entries)} games, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
