"""The table alone: no network, no clock but the test's."""

import json
import random
from typing import Any

import pytest

from gongzhu_jax import records
from gongzhu_jax.arena.deals import Deal, GameKey
from gongzhu_jax.arena.effects import (
    Ask,
    By,
    Closed,
    Effect,
    Phase,
    Save,
    SavePlay,
    Send,
    StoreGame,
)
from gongzhu_jax.arena.seats import TableRules
from gongzhu_jax.arena.table import Table
from gongzhu_jax.arena.table_state import dump_table, restore_table
from gongzhu_jax.errors import ArenaError
from gongzhu_jax.game.cards import CARD_NAMES, card_id

RULES = TableRules(move_seconds=10, own_seconds=100, idle_seconds=300)


def deal(number: int, seed: int = 0) -> Deal:
    owners = [seat for seat in range(4) for _ in range(13)]
    random.Random(f"{seed} {number}").shuffle(owners)
    return Deal(owners, number % 4, GameKey(0, number, 0))


def make_table(*seats: str | None, rules: TableRules = RULES) -> Table:
    return Table("t", seats, rules, deal, now=0.0)


def four_clients(rules: TableRules = RULES) -> tuple[Table, list[str], list[Effect]]:
    at = make_table(None, None, None, None, rules=rules)
    tokens = [at.sit(seat, f"c{seat}", 0.0)[0] for seat in range(4)]
    effects: list[Effect] = []
    for seat in range(4):
        effects = at.ready(seat, 1.0)
    return at, tokens, effects


def sent(effects: list[Effect], kind: str) -> list[Send]:
    return [e for e in effects if isinstance(e, Send) and e.message["type"] == kind]


def state(at: Table) -> str:
    """All that could change, to see that it does not."""
    game = at.game
    seats = [vars(place) for place in at.seats]
    plays = None if game is None else [game.plays, [sorted(h) for h in game.hands], game.taken]
    return json.dumps([at.summary(), seats, plays])


def refused(at: Table, code: str, call, *values: Any) -> None:
    before = state(at)
    with pytest.raises(ArenaError) as caught:
        call(*values)
    assert caught.value.code == code
    assert state(at) == before


def test_a_game_begins_when_all_are_ready() -> None:
    at = make_table(None, "if", None, "greed")
    assert at.phase is Phase.WAITING
    at.sit(0, "ann", 0.0)
    assert at.phase is Phase.WAITING
    refused(at, "taken", at.sit, 0, "bob", 0.0)
    refused(at, "taken", at.sit, 1, "bob", 0.0)
    refused(at, "seat", at.sit, 4, "bob", 0.0)
    at.ready(0, 0.0)
    assert at.phase is Phase.WAITING  # seat 2 is free
    at.sit(2, "bob", 0.0)
    effects = at.ready(2, 0.0)
    assert isinstance(effects[0], Save)
    assert [send.seat for send in sent(effects, "view")] == [2]
    assert [send.seat for send in sent(effects, "turn")] == [0]
    assert at.remaining(4.0) == 6.0
    refused(at, "phase", at.ready, 0, 1.0)
    refused(at, "phase", at.sit, 0, "eve", 1.0)


def test_a_whole_game_by_clients() -> None:
    at, _, effects = four_clients()
    rng, turns = random.Random(1), 0
    while at.phase is Phase.PLAYING:
        (turn,) = sent(effects, "turn")
        view = turn.message["view"]
        assert turn.seat == view["seat"] == view["to_move"]
        effects = at.play(view["seat"], view["stage"], card_id(rng.choice(view["legal"])), 2.0)
        turns += 1
    assert turns == 52
    (store,) = [e for e in effects if isinstance(e, StoreGame)]
    (replayed,) = records.replay_records([store.record])
    assert replayed.scores == store.record.scores
    assert store.record.metadata["late"] == []
    assert sent(effects, "game_end") == []  # not before it is stored
    refused(at, "phase", at.ready, 0, 2.0)
    (end,) = sent(at.recorded(7, 3.0), "game_end")
    assert end.message["scores"] == list(replayed.scores)
    assert end.message["game"] == 7
    assert at.totals == list(replayed.scores)
    assert at.phase is Phase.WAITING


def test_plays_that_are_refused_change_nothing() -> None:
    at, _, effects = four_clients()
    (turn,) = sent(effects, "turn")
    view = turn.message["view"]
    mine = card_id(view["legal"][0])
    other = next(c for c in range(52) if at.deal is not None and at.deal.owners[c] != view["seat"])
    refused(at, "turn", at.play, (view["seat"] + 1) % 4, 0, mine, 2.0)
    refused(at, "illegal", at.play, view["seat"], 0, other, 2.0)
    refused(at, "early", at.play, view["seat"], 1, mine, 2.0)
    at.play(view["seat"], 0, mine, 2.0)
    refused(at, "late", at.play, view["seat"], 0, mine, 2.0)


def test_the_clock_plays_the_lowest_legal_card() -> None:
    at, _, effects = four_clients()
    (turn,) = sent(effects, "turn")
    assert at.tick(10.9) == []
    effects = at.tick(11.0)
    (played,) = sent(effects, "played")
    legal = [card_id(name) for name in turn.message["view"]["legal"]]
    assert played.message["card"] == CARD_NAMES[min(legal)]
    assert played.message["by"] == "clock"
    assert len(sent(effects, "turn")) == 1
    now = 11.0
    while at.phase is Phase.PLAYING:
        now += 10
        effects = at.tick(now)
    (store,) = [e for e in effects if isinstance(e, StoreGame)]
    assert [late[1] for late in store.record.metadata["late"]] == list(range(52))
    assert records.replay_records([store.record])


def test_a_seat_belongs_to_its_token() -> None:
    at, tokens, _ = four_clients()
    refused(at, "forbidden", at.reconnect, 1, tokens[0], 2.0)
    refused(at, "forbidden", at.reconnect, 1, "", 2.0)
    refused(at, "forbidden", at.reconnect, 1, "\ud800é", 2.0)
    at.disconnect(1, 2.0)
    effects = at.reconnect(1, tokens[1], 3.0)
    (view,) = sent(effects, "view")
    assert view.seat == 1
    assert view.message["view"]["seat"] == 1


def test_our_players_are_asked_for_every_move() -> None:
    """For forced ones too: how long a move takes is decided where the clock is."""
    at = make_table(None, "a", "b", "c")
    at.sit(0, "ann", 0.0)
    effects, asked = at.ready(0, 0.0), 0
    while at.phase is Phase.PLAYING:
        asks = [e for e in effects if isinstance(e, Ask)]
        assert at.game is not None
        seat = at.game.mover
        if seat != 0:
            assert asks == [Ask("?abc"[seat], seat, at.game.stage)]
            asked += 1
        effects = at.play(seat, at.game.stage, at.game.legal()[-1], 1.0)
    assert asked == 39


def test_a_game_begins_when_the_programs_are_compiled() -> None:
    at = Table("t", (None, "a", "b", "a"), RULES, deal, 0.0, preparing=["a", "b"])
    at.sit(0, "ann", 0.0)
    at.ready(0, 0.0)
    assert at.phase is Phase.PREPARING
    (told,) = sent(at.prepared("a", 100.0), "table")
    assert (told.message["phase"], told.message["preparing"]) == ("preparing", ["b"])
    effects = at.prepared("b", 200.0)
    assert at.phase is Phase.PLAYING
    (turn,) = sent(effects, "turn")
    assert turn.message["seconds"] == RULES.move_seconds  # compiling cost the player nothing


@pytest.mark.parametrize("stop", [0, 1, 17, 51, 52])
def test_a_stored_table_goes_on_where_it_was(stop: int) -> None:
    at, tokens, effects = four_clients()
    rng, plays = random.Random(2), []
    while at.game is not None and at.game.stage < stop:
        card = rng.choice(at.game.legal())
        effects = at.play(at.game.mover, at.game.stage, card, 2.0)
        plays += [(e.card, e.by) for e in effects if isinstance(e, SavePlay)]
    stored = json.loads(json.dumps(dump_table(at)))
    again, effects = restore_table("t", stored, plays, lambda rules: deal, 5.0)
    assert at.game is not None
    assert again.game is not None
    assert again.game.plays == at.game.plays
    assert again.game.hands == at.game.hands
    assert [place.token for place in again.seats] == tokens
    assert not any(place.connected for place in again.seats)
    if stop == 52:
        assert [type(e) for e in effects] == [StoreGame]  # killed before it was recorded
    else:
        (turn,) = sent(effects, "turn")
        assert turn.message["seconds"] == RULES.move_seconds
        (view,) = [
            *sent(again.reconnect(turn.seat or 0, tokens[turn.seat or 0], 6.0), "turn"),
        ]
        assert view.message["view"] == turn.message["view"]


def test_a_restored_table_waits_for_programs_before_clocks_run() -> None:
    at = make_table(None, "a", "a", "a")
    token, _ = at.sit(0, "ann", 0.0)
    at.ready(0, 0.0)
    again, effects = restore_table("t", dump_table(at), [], lambda rules: deal, 5.0)
    assert effects == []
    assert again.tick(100.0) == []
    again.reconnect(0, token, 100.0)
    (turn,) = sent(again.prepared("a", 101.0), "turn")
    assert turn.message["seconds"] == RULES.move_seconds


def test_a_seat_between_games_waits_for_its_client() -> None:
    at = make_table(None, None, "a", "a")
    at.sit(0, "ann", 0.0)
    token, _ = at.sit(1, "bob", 0.0)
    at.disconnect(1, 10.0)
    assert at.tick(129.0) == []
    at.reconnect(1, token, 129.5)
    at.disconnect(1, 130.0)
    assert at.tick(249.0) == []
    at.tick(251.0)
    assert at.seats[1].free
    refused(at, "forbidden", at.reconnect, 1, token, 252.0)
    at.disconnect(0, 260.0)
    assert [e for e in at.tick(381.0) if isinstance(e, Closed)]


def test_leaving_hands_the_seat_to_the_clock_at_once() -> None:
    at, _, _ = four_clients()
    for seat in (1, 2, 3):
        at.leave(seat, 2.0)
    assert at.game is not None
    while at.phase is Phase.PLAYING:
        assert at.game.mover == 0
        effects = at.play(0, at.game.stage, at.game.legal()[0], 3.0)
    (store,) = [e for e in effects if isinstance(e, StoreGame)]
    assert store.record.players == ("c0", "c1", "c2", "c3")
    assert len(store.record.metadata["late"]) == 39
    at.recorded(1, 4.0)
    assert [e for e in at.leave(0, 5.0) if isinstance(e, Closed)] == [
        Closed("everybody has left", unfinished=False)
    ]
    refused(at, "closed", at.sit, 0, "x", 6.0)


def test_deserted_and_idle_tables_close() -> None:
    at, _, _ = four_clients()
    for seat in range(4):
        at.disconnect(seat, 2.0)
    now, closed = 2.0, []
    while not closed:
        now += 5
        closed = [e for e in at.tick(now) if isinstance(e, Closed)]
    assert closed == [Closed("everybody has gone", unfinished=True)]
    assert 302 < now < 320
    waiting = make_table(None, "if", "if", "if")
    waiting.sit(0, "ann", 0.0)
    assert waiting.tick(299.0) == []
    assert [e for e in waiting.tick(301.0) if isinstance(e, Closed)]


def test_a_table_of_a_match_plays_on_without_clients_and_closes_after_it() -> None:
    rules = TableRules(1, 1, 5, games=1, match=3)
    at, _, _ = four_clients(rules)
    refused(at, "forbidden", at.leave, 0, 2.0)
    for seat in range(4):
        at.disconnect(seat, 2.0)
    now = 2.0
    while at.phase is Phase.PLAYING:
        now += 1
        at.tick(now)
    assert [e for e in at.recorded(1, now) if isinstance(e, Closed)]


def test_analysis_only_where_allowed_and_only_for_the_mover() -> None:
    at, _, _ = four_clients()
    refused(at, "forbidden", at.analysed_game, 0, 0)
    at, _, _ = four_clients(TableRules(10, 10, 10, analysis=True))
    assert at.analysed_game(0, 0) is at.game
    refused(at, "turn", at.analysed_game, 1, 0)
    refused(at, "turn", at.analysed_game, 0, 1)


def test_a_failed_player_is_replaced_by_the_lowest_card() -> None:
    at = make_table(None, "a", "a", "a")
    at.sit(0, "ann", 0.0)
    at.ready(0, 0.0)
    assert at.game is not None
    at.play(0, 0, at.game.legal()[0], 1.0)
    (played,) = sent(at.clock_play(2.0, By.FAULT), "played")[:1]
    assert played.message["by"] == By.FAULT
