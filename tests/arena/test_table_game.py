"""The host's game against two others: the compiled rules and the rules in plain Python."""

import random

import pytest

from gongzhu_jax import records
from gongzhu_jax.arena.table_game import TableGame
from gongzhu_jax.errors import IllegalPlayError
from gongzhu_jax.game.cards import NUM_CARDS, POINT_CARDS, card_ids
from tests.oracle.rules import Game, score

_POINT_CARDS = set(POINT_CARDS.tolist())


def random_game(seed: int) -> tuple[TableGame, Game]:
    """A random game, held against the plain rules at every play."""
    rng = random.Random(seed)
    owners = [seat for seat in range(4) for _ in range(13)]
    rng.shuffle(owners)
    ours, truth = TableGame(owners, seed % 4), Game(owners, seed % 4)
    while not truth.is_terminal():
        assert not ours.is_over
        assert ours.mover == truth.player_to_move()
        assert ours.legal() == sorted(truth.legal())
        assert ours.scores() == [score(cards) for cards in truth.taken]
        card = rng.choice(ours.legal())
        ours.play_checked(card)
        truth.play(card)
    assert ours.is_over
    return ours, truth


def test_random_games_agree_with_the_plain_rules() -> None:
    for seed in range(150):
        ours, truth = random_game(seed)
        assert ours.leaders[1:] == truth.winners
        assert ours.scores() == [score(cards) for cards in truth.taken]


def test_records_of_games_replay_by_the_compiled_rules() -> None:
    games = [random_game(seed)[0] for seed in range(64)]
    stored = [
        records.Record(g.dealt, g.leader, tuple(g.plays), ("a", "b", "c", "d"), tuple(g.scores()))
        for g in games
    ]
    replayed = records.replay_records(stored)
    assert [r.winners for r in replayed] == [tuple(g.leaders[1:]) for g in games]


@pytest.mark.parametrize(
    ("cards", "points"),
    [
        ("C10", 50),  # alone
        ("C10 H2", 0),  # a heart without points is company
        ("C10 SQ", -200),
        ("C10 DJ", 200),
        ("SQ DJ HA", -50),
        ("H2 H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ HK HA", 200),
        ("H2 H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ HK HA C10 SQ", 200),
    ],
)
def test_scores_by_hand(cards: str, points: int) -> None:
    game = TableGame([seat for seat in range(4) for _ in range(13)], 0)
    for card in card_ids(cards):
        assert card in _POINT_CARDS
        game.taken_by[card] = 2
    assert game.scores() == [0, 0, points, 0]


def test_an_illegal_play_changes_nothing() -> None:
    owners = [card % 4 for card in range(NUM_CARDS)]
    game = TableGame(owners, 0)
    game.play_checked(0)
    before = (list(game.plays), [list(hand) for hand in game.hands])
    for card, reason in ((13, "follow S"), (0, "does not hold"), (2, "does not hold")):
        with pytest.raises(IllegalPlayError, match=reason):
            game.play_checked(card)
    assert (game.plays, game.hands) == before
