"""Game records: every kind of wrong file has its message, and right ones replay."""

import gzip
import json
import os
from dataclasses import replace
from pathlib import Path

import jax
import pytest

from gongzhu_jax import records
from gongzhu_jax.errors import CardError, DealError, IllegalPlayError, RecordError
from gongzhu_jax.game import RULES_VERSION
from tests.oracle.data import load
from tests.oracle.rules import card_name

PLAYERS = ("north", "east", "south", "west")


def golden_record(game: dict) -> records.Record:
    return records.Record(
        deal=tuple(game["deal"]),
        leader=game["leader"],
        plays=tuple(game["plays"]),
        players=PLAYERS,
        scores=tuple(game["scores"]),
        metadata={"kind": game["kind"], "events": game["events"]},
    )


@pytest.fixture(scope="module")
def golden() -> list[records.Record]:
    return [golden_record(game) for game in load("games")]


def fields_of(record: records.Record) -> dict:
    """A line as the format says, written without the writer."""
    return {
        "rules": RULES_VERSION,
        "deal": list(record.deal),
        "leader": record.leader,
        "plays": [card_name(card) for card in record.plays],
        "players": list(record.players),
        "scores": list(record.scores),
        "metadata": record.metadata,
    }


@pytest.mark.parametrize("name", ["games.jsonl", "games.jsonl.gz"])
def test_write_and_read(tmp_path: Path, golden: list[records.Record], name: str) -> None:
    path = tmp_path / name
    records.write(path, golden[:20])
    opener = gzip.open if name.endswith(".gz") else open
    with opener(path, "rt") as file:
        assert [json.loads(line) for line in file] == [fields_of(r) for r in golden[:20]]
    read = records.read(path)
    assert read == golden[:20]
    assert read[4].source == f"{path}:5"
    first = path.read_bytes()
    records.write(path, read)
    assert path.read_bytes() == first


def test_card_ids_are_read_too(golden: list[records.Record]) -> None:
    fields = fields_of(golden[0]) | {"plays": list(golden[0].plays)}
    assert records.parse(json.dumps(fields)) == golden[0]


def test_replay(golden: list[records.Record]) -> None:
    replayed_games = records.replay_records(golden[:50])
    for replayed, game in zip(replayed_games, load("games"), strict=False):
        assert replayed.winners == tuple(game["trick_winners"])
        assert replayed.scores == tuple(game["scores"])
    assert records.replay_records([]) == []


def test_padding_compiles_few_shapes(golden: list[records.Record]) -> None:
    records.replay_records(golden[:40])
    with jax.no_tracing():  # 33 to 64 records are one shape
        records.replay_records(golden[:33])
        records.replay_records(golden[:64])


# writing


def test_failed_write_leaves_the_old_file(
    tmp_path: Path, golden: list[records.Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.jsonl"
    records.write(path, golden[:1])
    before = path.read_bytes()

    def fail(source, target):
        assert Path(source).parent == tmp_path  # one file system, so that replacing is one step
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        records.write(path, golden[:2])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "changes",
    [
        {"plays": (0,) * 51},
        {"plays": (52,) * 52},
        {"players": ("a", "b", "c")},
        {"deal": (0,) * 52},
        {"metadata": {"state": object()}},
        {"metadata": {"mean": float("nan")}},
    ],
)
def test_bad_records_are_not_written(
    tmp_path: Path, golden: list[records.Record], changes: dict
) -> None:
    with pytest.raises(RecordError, match="record 2 cannot be written: "):
        records.write(tmp_path / "games.jsonl", [golden[0], replace(golden[1], **changes)])
    assert list(tmp_path.iterdir()) == []


# wrong form

BAD_FORM = [
    ("{", "not JSON: ", ValueError),
    ("", "not JSON: ", ValueError),
    ("[1, 2]", "a record is a JSON object, not list", None),
    ({"rules": "gongzhu-0"}, "rules version 'gongzhu-0', not 'gongzhu-1'", None),
    ({"rules": None}, "rules version None, not 'gongzhu-1'", None),
    ({"scores": ...}, "field 'scores' is missing", None),
    ({"colour": "red"}, "unknown field 'colour'; the fields are rules, deal,", None),
    ({"deal": "0123"}, "deal must be a list, not '0123'", None),
    ({"deal": [0] * 51}, "a deal names the owner of 52 cards, not of 51", DealError),
    (
        {"deal": [0] * 14 + [1] * 12 + [2] * 13 + [3] * 13},
        "seat 0 has 14 cards, not 13",
        DealError,
    ),
    ({"deal": [4] * 52}, "owner of S2 must be a seat from 0 to 3, not 4", DealError),
    ({"leader": "0"}, "leader must be a seat from 0 to 3, not '0'", DealError),
    ({"leader": 1.0}, "leader must be a seat from 0 to 3, not 1.0", DealError),
    ({"plays": None}, "plays must be a list, not None", None),
    ({"plays": ["S2", "S3", "XX"]}, "play 3: unknown card name 'XX'", CardError),
    ({"plays": [0, 60]}, "play 2: unknown card id 60", CardError),
    ({"plays": [0, [1]]}, "play 2: a card is a name or an id", CardError),
    ({"plays": ["S2"] * 40}, "play 41: missing; the record stops after 40 plays", None),
    ({"plays": ["S2"] * 53}, "play 53: one too many; a game has 52 plays", None),
    ({"players": ["a", "b"]}, "players must have 4 entries, not 2", None),
    ({"players": ["a", "b", "c", 4]}, "players must be 4 names, not", None),
    ({"scores": [0, 0, 0]}, "scores must have 4 entries, not 3", None),
    ({"scores": [0, 0, 0, 0.5]}, "scores must be 4 whole numbers, not", None),
    ({"scores": [0, 0, 0, True]}, "scores must be 4 whole numbers, not", None),
    ({"metadata": []}, "metadata must be an object, not []", None),
]


def changed_line(record: records.Record, changes: dict | str) -> str:
    if isinstance(changes, str):
        return changes
    fields = fields_of(record) | changes
    return json.dumps({name: value for name, value in fields.items() if value is not ...})


@pytest.mark.parametrize(("changes", "message", "cause"), BAD_FORM)
def test_wrong_form(
    tmp_path: Path,
    golden: list[records.Record],
    changes: dict | str,
    message: str,
    cause: type[Exception] | None,
) -> None:
    path = tmp_path / "games.jsonl"
    good = json.dumps(fields_of(golden[0]))
    path.write_text(f"{good}\n{changed_line(golden[1], changes)}\n{good}\n")
    with pytest.raises(RecordError) as caught:
        records.read(path)
    assert str(caught.value).startswith(f"{path}:2: {message}")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value.__cause__, cause or RecordError)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("none.jsonl", None, "No such file or directory"),
        ("none.jsonl.gz", None, "No such file or directory"),
        ("plain.jsonl.gz", b"{}\n", "Not a gzipped file"),
        ("cut.jsonl.gz", gzip.compress(b"{}\n" * 1000, mtime=0)[:-12], "Compressed file ended"),
        ("binary.jsonl", b"\xff\xfe", "codec can't decode"),
    ],
)
def test_unreadable_files(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    content: bytes | None,
    reason: str,
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecordError, match=reason) as caught:
        records.read(path)
    assert str(caught.value).startswith(f"{path}: cannot be read: ")
    assert caught.value.__cause__ is not None
    assert records.main([str(path)]) == 2
    assert reason in capsys.readouterr().err


# wrong games


def swapped(record: records.Record, first: int, second: int) -> records.Record:
    plays = list(record.plays)
    plays[first], plays[second] = plays[second], plays[first]
    return replace(record, plays=tuple(plays))


def wrong_games(record: records.Record) -> list[tuple[records.Record, str]]:
    """Records that are well formed, but did not happen, and what is to be said of them."""
    names = [card_name(card) for card in record.plays]
    repeated = replace(record, plays=(*record.plays[:8], record.plays[0], *record.plays[9:]))
    scores = [record.scores[0] + 10, *record.scores[1:]]
    return [
        (swapped(record, 0, 1), f"play 1: seat {record.leader} does not hold {names[1]}"),
        (swapped(record, 50, 51), f"does not hold {names[51]}"),
        (repeated, f"play 9: {names[0]} was already played"),
        (replace(record, scores=tuple(scores)), f"not {scores}"),
        (replace(record, leader=(record.leader + 1) % 4), "play 1: seat"),
    ]


def test_wrong_games(golden: list[records.Record]) -> None:
    wrong = wrong_games(golden[5])
    checked = records.check_records([golden[4], *[record for record, _ in wrong], golden[6]])
    assert isinstance(checked[0], records.Replayed)
    assert isinstance(checked[-1], records.Replayed)
    for number, (error, (_, message)) in enumerate(zip(checked[1:], wrong, strict=False), start=2):
        assert isinstance(error, RecordError)
        assert str(error).startswith(f"record {number}: play ")
        assert message in str(error)
    assert isinstance(checked[1], RecordError)
    assert isinstance(checked[1].__cause__, IllegalPlayError)
    with pytest.raises(RecordError, match="record 1: play 1"):
        records.replay_records([wrong[0][0]])


def test_suit_not_followed() -> None:
    """A hand-made game: seat 1 has S3 and plays H3."""
    plays = [0, 14, *[card for card in range(52) if card not in (0, 14)]]
    deal = tuple(card % 4 for card in range(52))
    deal = (*deal[:14], 1, 2, *deal[16:])  # H3 to seat 1, H4 to seat 2
    record = records.Record(deal, 0, tuple(plays), PLAYERS, (0, 0, 0, 0))
    (error,) = records.check_records([record])
    assert str(error) == "record 1: play 2: seat 1 plays H3 but must follow suit S"


# the command


def test_command_on_golden_games(
    tmp_path: Path, golden: list[records.Record], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "golden.jsonl.gz"
    records.write(path, golden)
    assert records.main([str(path)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    *lines, summary = printed.out.splitlines()
    assert summary == f"{path}: 1845 games, 0 wrong"
    for number, (line, game) in enumerate(zip(lines, load("games"), strict=True), start=1):
        tricks = "".join(map(str, game["trick_winners"]))
        scores = " ".join(map(str, game["scores"]))
        assert line == f"{path}:{number}: tricks {tricks} scores {scores}"


def test_command_goes_on_after_errors(
    tmp_path: Path, golden: list[records.Record], capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    good = json.dumps(fields_of(golden[0]))
    bad_play = json.dumps(fields_of(swapped(golden[5], 0, 1)))
    first.write_text(f"{good}\nnonsense\n{bad_play}\n{good}\n")
    second.write_text(f"{good}\n")
    assert records.main([str(first), str(second)]) == 1
    printed = capsys.readouterr()
    errors = printed.err.splitlines()
    assert len(errors) == 2
    assert errors[0].startswith(f"{first}:2: not JSON: ")
    assert errors[1].startswith(f"{first}:3: play 1: seat 2 does not hold")
    out = printed.out.splitlines()
    assert [line.split(": ")[0] for line in out[:2]] == [f"{first}:1", f"{first}:4"]
    assert out[2] == f"{first}: 4 games, 2 wrong"
    assert out[-1] == f"{second}: 1 games, 0 wrong"
    assert records.main([str(tmp_path / "none"), str(second)]) == 2
    assert f"{second}: 1 games" in capsys.readouterr().out


@pytest.mark.parametrize("argv", [[], ["--help"], ["-x", "games.jsonl"]])
def test_command_usage(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert records.main(argv) == 2
    assert capsys.readouterr().err == "usage: python -m gongzhu_jax.records FILE...\n"
