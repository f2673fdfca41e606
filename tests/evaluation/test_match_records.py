"""Records of matches: what names them, when they are reused, and what they say of who played."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gongzhu_jax import players
from gongzhu_jax.errors import RecordError
from gongzhu_jax.evaluation import play_match
from gongzhu_jax.evaluation import recorder as recorder_module
from gongzhu_jax.evaluation.deal_sets import choose_deals
from gongzhu_jax.evaluation.fingerprint import (
    Fingerprints,
    fingerprint,
    player_identity,
    program_digest,
)
from gongzhu_jax.evaluation.match_records import MatchRecord, RecordStore, read_record
from gongzhu_jax.evaluation.recorder import Recorder
from gongzhu_jax.players import Player
from tests.evaluation.simple_players import high_player, mixed_player, random_player

ONE = {"commit": "a" * 40, "clean": True, "machine": {}}
TWO = ONE | {"commit": "b" * 40}


@pytest.fixture
def store(tmp_path: Path) -> RecordStore:
    return RecordStore(tmp_path / "records")


def recorder(store: RecordStore, provenance=ONE, said: list | None = None) -> Recorder:
    said = [] if said is None else said
    return Recorder(store, Fingerprints(), provenance, said.append)


def play(
    store: RecordStore, count: int, player: Player = mixed_player, said=None, by=ONE, **options
) -> MatchRecord:
    chosen = choose_deals("development-1", count)
    return recorder(store, by, said).play("row", player, random_player, chosen, **options)


def test_a_record_has_what_was_played(store: RecordStore) -> None:
    record = play(store, 6, batch=4)
    expected = play_match(mixed_player, random_player, choose_deals("development-1", 6).deals)
    np.testing.assert_array_equal(record.margins, expected.margins)
    (path,) = store.folder.iterdir()
    assert path.name == f"{record.match}-6.json"
    kept = read_record(path)
    np.testing.assert_array_equal(kept.margins, record.margins)
    summary = kept.summary()
    assert summary["mean"] == expected.mean
    assert summary["standard_error"] == expected.standard_error
    assert (summary["win_rate"], summary["draw_rate"]) == (expected.win_rate, expected.draw_rate)
    assert summary["set"] == "development-1"
    assert summary["commits"] == ["a" * 40]


@pytest.fixture
def no_play(monkeypatch: pytest.MonkeyPatch):
    def forbid() -> None:
        monkeypatch.setattr(recorder_module, "match_seating", None)

    return forbid


def test_what_is_on_record_is_not_played_again(store: RecordStore, no_play) -> None:
    first = play(store, 6)
    no_play()
    said: list[str] = []
    # Other code that plays the same, and other settings of speed.
    again = play(store, 6, by=TWO, said=said, batch=2, chunk=1)
    np.testing.assert_array_equal(again.margins, first.margins)
    assert again.summary()["commits"] == ["a" * 40]
    assert said == ["row: 6 of 6 deals are on record, played by commit aaaaaaaaaa"]
    fewer = play(store, 4)
    np.testing.assert_array_equal(fewer.margins, first.margins[:4])
    assert fewer.summary()["deals"] == 4


def test_more_deals_go_on_where_fewer_ended(store: RecordStore, monkeypatch) -> None:
    play(store, 4)
    numbers = []
    seat = recorder_module.match_seating

    def watched(*args, **options):
        seating = seat(*args, **options)

        class Watch:
            compile = seating.compile

            def play(self, deals):
                numbers.extend(deals.numbers.tolist())
                return seating.play(deals)

        return Watch()

    monkeypatch.setattr(recorder_module, "match_seating", watched)
    record = play(store, 9, by=TWO)
    assert numbers == [4, 5, 6, 7, 8]
    expected = play_match(mixed_player, random_player, choose_deals("development-1", 9).deals)
    np.testing.assert_array_equal(record.margins, expected.margins)
    assert [segment.stop for segment in record.segments] == [4, 9]
    assert record.summary()["commits"] == ["a" * 40, "b" * 40]
    assert record.first(3).summary()["commits"] == ["a" * 40]
    assert len(list(store.folder.iterdir())) == 1  # the shorter one is replaced


def sabotaged(params, keys, views):
    """Plays as before but at the 20th card."""
    cards = mixed_player.act_batch(params, keys, views)
    return jnp.where(views.stage == 20, high_player.act_batch(params, keys, views), cards)


def test_code_that_changes_play_finds_no_record(store: RecordStore) -> None:
    first = play(store, 4)
    said: list[str] = []
    changed = replace(mixed_player, act_batch=sabotaged)
    assert fingerprint(changed) != fingerprint(mixed_player)
    other = play(store, 4, player=changed, said=said, by=TWO)
    assert other.match != first.match
    assert other.summary()["commits"] == ["b" * 40]
    (line,) = said
    assert "commit aaaaaaaaaa is not used" in line
    assert "choose other cards" in line


@dataclass(frozen=True)
class Config:
    beta: float = 0.1
    chunk: int = 8


def test_what_names_a_match(store: RecordStore) -> None:
    def name(player=mixed_player, **options) -> str:
        return play(store, 2, player=player, **options).match

    plain = replace(mixed_player, config=Config())
    names = {
        name(),
        name(seed=1),
        name(rotations=4),
        name(player=plain),
        name(player=replace(plain, config=Config(beta=0.2))),
        name(player=replace(plain, params=np.ones(3))),
    }
    assert len(names) == 6
    assert name(player=replace(plain, config=Config(chunk=16))) in names
    chosen = choose_deals("development-2", 2)
    assert recorder(store).play("", mixed_player, random_player, chosen).match not in names


@dataclass(frozen=True)
class Before:
    draws: int = 9


@dataclass(frozen=True)
class Since:
    draws: int = 9
    order: str = field(default="list", metadata={"added": True})


def test_a_setting_that_was_added_renames_nothing_until_it_is_used() -> None:
    before, since, used = (
        player_identity(replace(mixed_player, config=config))
        for config in (Before(), Since(), Since(order="statistics"))
    )
    assert before == since
    assert used["config"] == {"draws": 9, "order": "statistics"}
    scrofa = players.make("scrofa")
    assert "key_card_order" not in player_identity(scrofa)["config"]["scenarios"]
    other = players.make("scrofa", scenarios={"key_card_order": "statistics"})
    assert player_identity(other)["config"]["scenarios"]["key_card_order"] == "statistics"


def test_a_kill_loses_at_most_a_batch(store: RecordStore) -> None:
    stopping = replace(recorder(store), should_stop=lambda: any(store.folder.glob("*-4.json")))
    chosen = choose_deals("development-1", 8)
    with pytest.raises(KeyboardInterrupt):
        stopping.play("row", mixed_player, random_player, chosen, batch=2)
    assert [path.stem.rpartition("-")[2] for path in store.folder.iterdir()] == ["4"]
    whole = play(store, 8)
    expected = play_match(mixed_player, random_player, chosen.deals)
    np.testing.assert_array_equal(whole.margins, expected.margins)


def test_damaged_records(store: RecordStore) -> None:
    record = play(store, 3)
    (path,) = store.folder.iterdir()
    content = json.loads(path.read_text())
    content["identity"]["seed"] = 5
    path.write_text(json.dumps(content))
    with pytest.raises(RecordError, match="does not hold the match"):
        read_record(path)
    path.write_text(path.read_text()[:100])
    with pytest.raises(RecordError, match="is not a match record"):
        store.find(record.match)
    with pytest.raises(RecordError, match="no record of 9 deals"):
        RecordStore(store.folder / "empty").get(record.match, 9)


def test_published_records_were_played_by_a_commit(tmp_path: Path) -> None:
    mine, published = tmp_path / "mine", tmp_path / "published"
    play(RecordStore(mine), 3, by=ONE | {"clean": False})
    strict = RecordStore(published, mine, only_clean=True)
    record = play(strict, 3, by=TWO)
    assert record.summary()["commits"] == ["b" * 40]
    play(RecordStore(mine), 2, player=high_player)
    copied = play(strict, 2, player=high_player, by=TWO)
    assert copied.summary()["commits"] == ["a" * 40]
    assert (published / f"{copied.match}-2.json").is_file()


def test_fingerprints_are_kept_by_source(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "fingerprints.json"
    known = Fingerprints(path).of(mixed_player)
    assert known == fingerprint(mixed_player)
    monkeypatch.setattr("gongzhu_jax.evaluation.fingerprint.fingerprint", lambda player: "asked")
    assert Fingerprints(path).of(mixed_player) == known
    monkeypatch.setattr("gongzhu_jax.evaluation.fingerprint.source_digest", lambda: "changed")
    assert Fingerprints(path).of(mixed_player) == "asked"


def test_programs_tell_options_that_are_not_used() -> None:
    def act(params, keys, views):
        return mixed_player.act_batch((), keys, views) + 0 * params["used"].astype(jnp.int8)

    def player(**params) -> Player:
        return Player("p", None, act, {k: jnp.float32(v) for k, v in params.items()})

    first = program_digest(player(used=1, unused=1))
    assert program_digest(player(used=1, unused=2)) == first
    assert program_digest(player(used=2, unused=1)) != first
    assert program_digest(high_player) != program_digest(mixed_player)


def test_a_program_is_the_same_whether_its_parts_were_traced_once_or_twice() -> None:
    """Which of the two happens depends on what jax has in its caches."""

    def player(steps: int, *, shared: bool) -> Player:
        def part():
            def twice(cards):
                return cards + cards if steps == 1 else cards + cards + cards

            return jax.jit(twice)

        first = part()
        second = first if shared else part()

        def act(params, keys, views):
            cards = mixed_player.act_batch((), keys, views)
            return second(first(cards))

        return Player("p", None, act)

    assert program_digest(player(1, shared=True)) == program_digest(player(1, shared=False))
    assert program_digest(player(1, shared=True)) != program_digest(player(2, shared=True))
