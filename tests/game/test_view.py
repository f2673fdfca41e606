"""What a seat may know: nothing leaks, and views from outside are checked."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

from gongzhu_jax.errors import CardError, DealError, GongzhuError, IllegalPlayError
from gongzhu_jax.game import env, make_view, view
from gongzhu_jax.game.public_view import legal_mask, pad_plays, unseen_mask, with_deal
from gongzhu_jax.game.replays import replay
from tests.game.random_games import SEEDS, assert_equal_trees, examples, one, random_states
from tests.oracle.iec import full_deal
from tests.oracle.rules import SUIT, Game
from tests.oracle.scenarios import enumerate_deals

BATCH = 64

view_each = jax.jit(jax.vmap(view))  # states [n], seats [n]


@jax.jit
def view_all_seats(states):
    """Views [batch, 4] of states [batch]."""
    return jax.vmap(jax.vmap(view, in_axes=(None, 0)), in_axes=(0, None))(states, jnp.arange(4))


@jax.jit
def view_after(owners, leader, plays, seat):
    state, legal = jax.vmap(replay)(owners, leader, plays)
    return jax.vmap(view)(state, seat), state.holder, legal


def unknown_to(game: Game, seat: int) -> list[int]:
    """Cards that `seat` has not seen."""
    return [card for other in range(4) if other != seat for card in game.hand(other)]


def another_deal(game: Game, seat: int, rng: random.Random) -> list[int]:
    """Owners of the 52 cards after a long random walk of swaps that `seat` cannot notice."""
    holder = {card: other for other in range(4) for card in game.hand(other)}
    hidden, voids = unknown_to(game, seat), game.voids()
    for _ in range(100 if len(hidden) > 1 else 0):
        a, b = rng.sample(hidden, 2)
        if not voids[holder[a]][SUIT[b]] and not voids[holder[b]][SUIT[a]]:
            holder[a], holder[b] = holder[b], holder[a]
    return full_deal(game.leader, cards(game), [holder.get(card, seat) for card in range(52)])


def cards(game: Game) -> list[int]:
    return [card for _, card in game.plays]


@examples(4)
@given(seed=SEEDS)
def test_nothing_leaks(seed: int) -> None:
    """Any deal of the unseen cards that agrees with what a seat has seen gives the same view."""
    states, games = random_states(seed, BATCH)
    rng = random.Random(seed)
    seats = np.tile(np.arange(4, dtype=np.int8), BATCH)
    repeated = [game for game in games for _ in range(4)]
    owners = [
        another_deal(game, int(seat), rng) for game, seat in zip(repeated, seats, strict=True)
    ]
    leaders = np.array([game.leader for game in repeated], np.int8)
    plays = np.array([pad_plays(cards(game)) for game in repeated])
    seen, holder, legal = view_after(np.array(owners, np.int8), leaders, plays, seats)
    assert np.all(legal)
    true_views = jax.tree.map(
        lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), view_all_seats(states)
    )
    assert_equal_trees(seen, true_views)
    # The deals were other deals, or this would say nothing.
    changed = np.any(np.asarray(holder) != np.repeat(states.holder, 4, axis=0), axis=1)
    assert changed.mean() > 0.7


def test_nothing_leaks_in_endgames() -> None:
    """The same for every deal there is, where they can be listed."""
    _, games = random_states(0, 512)
    late = [game for game in games if len(game.plays) >= 42][:12]
    assert len(late) == 12
    compared = 0
    for game in late:
        seat = game.player_to_move()
        opponents = [(seat + i) % 4 for i in (1, 2, 3)]
        hidden = unknown_to(game, seat)
        sizes = [len(game.hand(other)) for other in opponents]
        deals = enumerate_deals(hidden, sizes, [game.voids()[other] for other in opponents])
        consistent = set()
        for deal, _ in zip(deals, range(64), strict=False):
            scenario = [seat] * 52
            for card, i in zip(hidden, deal, strict=True):
                scenario[card] = opponents[i]
            consistent.add(tuple(full_deal(game.leader, cards(game), scenario)))
        owners = np.array(sorted(consistent), np.int8)
        # Padded to one size, so that the replay compiles once.
        owners = owners[np.arange(64) % len(owners)]
        plays = np.tile(pad_plays(cards(game)), (64, 1))
        leaders, seats = np.full(64, game.leader, np.int8), np.full(64, seat, np.int8)
        got, _, legal = view_after(owners, leaders, plays, seats)
        assert np.all(legal)
        assert_equal_trees(got, jax.tree.map(lambda leaf: np.repeat(leaf[:1], 64, axis=0), got))
        compared += len(consistent)
    assert compared > 24


@examples(4)
@given(seed=SEEDS)
def test_views_as_the_oracle(seed: int) -> None:
    states, games = random_states(seed, BATCH)
    every_view = jax.device_get(view_all_seats(states))
    for i, game in enumerate(games):
        played = cards(game)
        for seat in range(4):
            mine = one(every_view, (i, seat))
            assert mine.seat == seat
            assert mine.to_move == game.player_to_move()
            assert mine.stage == len(played)
            assert np.flatnonzero(mine.hand).tolist() == game.hand(seat)
            assert mine.plays.tolist() == played + [-1] * (52 - len(played))
            assert mine.seats.tolist() == [s for s, _ in game.plays] + [-1] * (52 - len(played))
            assert [card for card in mine.trick.tolist() if card >= 0] == [c for _, c in game.trick]
            won = [game.leader, *game.winners]
            assert mine.leaders.tolist() == won + [-1] * (14 - len(won))
            takers = [[s for s in range(4) if card in game.taken[s]] for card in range(52)]
            assert mine.taken_by.tolist() == [taker[0] if taker else -1 for taker in takers]
            assert mine.voids.tolist() == game.voids()
            assert mine.hand_sizes.tolist() == [len(game.hand(other)) for other in range(4)]


def test_what_follows_from_a_view() -> None:
    states, games = random_states(1, BATCH)
    movers = jax.vmap(env.player_to_move)(states)
    seen = view_each(states, movers)
    legal = np.asarray(jax.vmap(legal_mask)(seen))
    unseen = np.asarray(jax.vmap(unseen_mask)(seen))
    for i, game in enumerate(games):
        assert np.flatnonzero(legal[i]).tolist() == game.legal()
        assert np.flatnonzero(unseen[i]).tolist() == sorted(unknown_to(game, int(movers[i])))
    # With the true deal a view is the game again; entries that the viewer knows are not read.
    holder = np.where(unseen, states.holder, np.int8(3))
    assert_equal_trees(jax.vmap(with_deal)(seen, jnp.asarray(holder)), states)


@examples(2)
@given(seed=SEEDS)
def test_made_from_outside(seed: int) -> None:
    """A view from a hand and a history is the view of the game, given as ids or names."""
    states, games = random_states(seed, BATCH)
    every_view = jax.device_get(view_all_seats(states))
    for i, game in enumerate(games):
        for seat in range(4):
            made = make_view(seat, game.hand(seat), game.leader, cards(game))
            assert_equal_trees(made, one(every_view, (i, seat)))


def test_made_from_names() -> None:
    ids = make_view(1, range(13, 26), 0, [0])
    names = make_view(1, "H2 H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ HK HA", 0, "S2")
    assert_equal_trees(ids, names)
    assert ids.to_move == 1


HEARTS = "H2 H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ HK"


@pytest.mark.parametrize(
    ("seat", "hand", "leader", "plays", "error", "message"),
    [
        # Bad seats.
        (4, HEARTS + " HA", 0, "", DealError, "seat must be a seat from 0 to 3, not 4"),
        ("1", HEARTS + " HA", 0, "", DealError, "seat must be a seat from 0 to 3, not '1'"),
        (0, HEARTS + " HA", -1, "", DealError, "leader must be a seat from 0 to 3, not -1"),
        # Unknown cards.
        (0, HEARTS + " H1", 0, "", CardError, "unknown card name 'H1'"),
        (0, [52, *range(12)], 0, "", CardError, "unknown card id 52"),
        (0, HEARTS + " HA", 1, "Z2", CardError, "unknown card name 'Z2'"),
        # Wrong sizes of the hand.
        (0, HEARTS, 0, "", DealError, "seat 0 must hold 13 cards after its plays, not 12"),
        (
            0,
            HEARTS + " HA",
            0,
            "S2",
            DealError,
            "seat 0 must hold 12 cards after its plays, not 13",
        ),
        # Repeated cards.
        (0, HEARTS + " H2", 0, "", DealError, "H2 is twice in the hand"),
        (0, HEARTS, 0, "HA S2 HA", IllegalPlayError, r"play 3: HA is already played \(play 1\)"),
        (0, HEARTS, 0, "H2", IllegalPlayError, "play 1: H2 is already in the hand"),
        # The viewer did not follow suit.
        (
            *(1, HEARTS, 0, "HA C2"),
            *(IllegalPlayError, "play 2: seat 1 plays C2 but holds H2 and must follow suit H"),
        ),
        # Another seat did not follow, as a later play of its own shows: S5, play 8.
        (
            *(1, "H2 H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ", 0, "S2 S3 C2 S4 C3 C4 C5 S5"),
            *(IllegalPlayError, "play 3: seat 2 plays C2 but holds S5 and must follow suit S"),
        ),
        # All the others are out of hearts, and the viewer does not have them all.
        (
            *(0, HEARTS.replace(" HK", ""), 0, "HA S2 S3 S4 HK S5 S6 S7"),
            *(None, ""),
        ),
        (
            *(0, HEARTS.replace("H2", "C2").replace(" HK", ""), 0, "HA S2 S3 S4 HK S5 S6 S7"),
            *(IllegalPlayError, "no deal of the unseen cards agrees"),
        ),
        # Both 1 and 2 are out of hearts and of diamonds, and 26 - 2 such cards do not fit into
        # the hand of 3.
        (
            *(0, "S2 S3 S4 S5 S6 S7 S8 S9 S10 SJ SQ", 0, "HA C2 C3 H2 DA C4 C5 D2"),
            *(IllegalPlayError, "no deal of the unseen cards agrees"),
        ),
    ],
)
def test_bad_data_from_outside(seat, hand, leader, plays, error, message: str) -> None:
    if error is None:  # the counterpart of a bad case, to show what makes it bad
        assert make_view(seat, hand, leader, plays).stage == len(plays.split())
        return
    with pytest.raises(error, match=message) as caught:
        make_view(seat, hand, leader, plays)
    assert isinstance(caught.value, GongzhuError)
    assert "\n" not in str(caught.value)
