"""Experiments about single cards and positions, with a small untrained network."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from experiments import (
    card_statistics,
    card_values,
    guessed_hands,
    input_figures,
    irrelevant_cards,
    positions,
    published,
    resampling,
    worked_examples,
)
from experiments.report_sections import SECTIONS, Section
from gongzhu_jax import players
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import CARD_NAMES, card_id, card_ids
from gongzhu_jax.network.features import encode_averaged
from gongzhu_jax.network.policy_value import NetworkConfig, make
from gongzhu_jax.network.weights import save_weights
from tests.evaluation.simple_players import random_player
from tests.oracle.rules import Game

SMALL = NetworkConfig("compact", stem=16, width=8, blocks=1)
PLAY = ("deals=2", "batch=2", "chunk=2")


@pytest.fixture(scope="module")
def params() -> Any:
    return make(SMALL).init(jax.random.key(0))


@pytest.fixture(scope="module")
def weights(tmp_path_factory, params) -> Path:
    path = tmp_path_factory.mktemp("weights") / "small.safetensors"
    save_weights(path, SMALL, params, {}, "float32")
    return path


@pytest.fixture(autouse=True)
def simple_players(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games by a player that compiles fast."""
    monkeypatch.setattr(players, "make", lambda name, **_: replace(random_player, name=name))
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture(scope="module")
def games() -> list[Game]:
    """Finished random games by the plain-Python rules."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(6):
        game = Game(rng.permutation(np.repeat(np.arange(4), 13)).tolist(), 0)
        while not game.is_terminal():
            game.play(int(rng.choice(game.legal())))
        found.append(game)
    return found


@pytest.fixture(scope="module")
def finals(games: list[Game]) -> env.GameState:
    owners = np.array([game.owners for game in games], np.int8)
    plays = np.array([[card for _, card in game.plays] for game in games], np.int8)
    return jax.jit(jax.vmap(lambda o, p: env.play_all(env.from_owners(o, 0), p)))(owners, plays)


def run(module: Any, folder: Path, *arguments: str) -> dict[str, Any]:
    out = folder / "result.json"
    assert module.main([f"output={out}", *arguments]) == 0
    result = json.loads(out.read_text())["result"]
    check_section(SECTIONS[module.__name__.split(".")[1]](result), folder)
    return result


def check_section(section: Section, folder: Path) -> None:
    """What the report says of a result: full lines, and pictures that are there."""
    assert section.tables or section.pictures
    for table in section.tables:
        assert len(table.lines) > 1
        assert {len(line) for line in table.lines} == {len(table.lines[0])}
    for picture in section.pictures:
        assert (folder / picture).stat().st_size > 10_000


def positions_of(game: Game) -> list[Game]:
    """The positions of a game before each card."""
    cards = [card for _, card in game.plays]
    return [Game(game.owners, 0, cards[:stage]) for stage in range(52)]


def policy_of(params: Any, game: Game) -> np.ndarray:
    """What the policy says, by the input that the player to move would be given, times 5."""
    plays = jnp.array([card for _, card in game.plays], jnp.int8)
    state = env.play_all(env.from_owners(jnp.array(game.owners, jnp.int8), 0), plays)
    logits, _ = make(SMALL).apply(params, encode_averaged(state)[None])
    return np.asarray(logits[0]) * 5


def test_card_statistics(
    params: Any, games: list[Game], finals: env.GameState, tmp_path: Path, weights: Path
) -> None:
    beta = 0.3  # an untrained network has no regrets to speak of
    measure = card_statistics.make_measure(make(SMALL), beta)
    sums = positions.sums_over_positions(finals, measure, params, seed=0, batch=4)
    game = positions_of(games[5])  # of the batch that is filled up
    count, factor = np.zeros(52), np.zeros(52)
    for position in game[:4]:
        if len(position.legal()) > 1:
            q = policy_of(params, position)
            best = max(q[card] for card in position.legal())
            for card in position.legal():
                count[card] += 1
                factor[card] += np.exp(-beta * (best - q[card]))
    for position in game[4:]:
        count[position.legal()] += len(position.legal()) > 1
    np.testing.assert_array_equal(sums["count"][5], count)
    early = [card for card in range(52) if count[card] and factor[card] == count[card]]
    assert (sums["factor"][5][early] <= count[early] + 1e-4).all()
    assert (sums["factor"][5] >= factor - 1e-4).all()

    picture = tmp_path / "cards"
    result = run(
        *(
            card_statistics,
            tmp_path,
            f"checkpoint={weights}",
            f"picture={picture}",
            "beta=0.3",
            *PLAY,
        )
    )
    assert list(result["cards"]) == list(CARD_NAMES)
    seven = result["cards"]["S7"]
    assert 0 < seven["correction_factor"] <= 1
    assert seven["paper_spread"] == 14.6


def test_bootstrap_knows_the_error_of_a_mean() -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, (400, 1))
    sums = {"count": np.ones((400, 1)), "value": values, "square": values**2}
    mean, error = resampling.with_errors(resampling.mean_of("value"), sums)
    assert mean[0] == pytest.approx(values.mean())
    assert error[0] == pytest.approx(values.std() / 20, rel=0.15)
    deviation, _ = resampling.with_errors(resampling.deviation_of("value", "square"), sums)
    assert deviation[0] == pytest.approx(values.std())
    nothing = {name: np.zeros((5, 1)) for name in sums}
    assert np.isnan(resampling.with_errors(resampling.mean_of("value"), nothing)).all()


def test_card_values(
    games: list[Game], finals: env.GameState, tmp_path: Path, weights: Path
) -> None:
    """Which positions count, by the plain rules."""
    comparable = jax.jit(jax.vmap(card_values.comparable))
    for stage in range(48):
        states = jax.jit(jax.vmap(env.rewind, (0, None)))(finals, jnp.int8(stage))
        measured, lowest = (np.asarray(part) for part in comparable(states))
        for number, game in enumerate(games):
            position = Game(game.owners, 0, [card for _, card in game.plays[:stage]])
            expected = {}
            seat = position.player_to_move()
            hand = [card for suit in position.hands[seat] for card in suit]
            played = {card for _, card in position.plays}
            for name in card_values.PAPER:
                card, key = card_id(name), card_id(card_values.KEY_CARDS[name[0]])
                suit = [c for c in hand if c // 13 == card // 13]
                void = position.trick and not position.hands[seat][position.trick[0][1] // 13]
                if void and card in suit and suit[0] < card and key not in {*hand, *played}:
                    expected[name] = suit[0]
            found = [name for name, m in zip(card_values.PAPER, measured[number], strict=True) if m]
            assert found == list(expected)
            index = [list(card_values.PAPER).index(name) for name in found]
            assert lowest[number][index].tolist() == list(expected.values())

    result = run(card_values, tmp_path, f"checkpoint={weights}", *PLAY)
    assert result["cards"]["SA"].keys() == {
        *("value", "standard_error", "positions", "greed", "paper")
    }
    assert result["cards"]["DQ"]["greed"] == 10


def test_guessed_hands() -> None:
    for name, groups in guessed_hands.EXAMPLES.items():
        for group in groups:
            hands = guessed_hands.draw_hands(0, name, group, 5)
            guessed = sorted(set(card_ids(group)) - {card_id(name)})
            for without, present, lead in zip(
                hands.without, hands.present, hands.leads, strict=True
            ):
                for owners in (without, present):
                    assert np.bincount(owners).tolist() == [13] * 4
                    assert owners[lead] == 0
                suit = slice(lead // 13 * 13, lead // 13 * 13 + 13)
                mine = (np.flatnonzero(without[suit] == 1) + suit.start).tolist()
                assert mine == guessed
                mine = (np.flatnonzero(present[suit] == 1) + suit.start).tolist()
                assert mine == sorted([*guessed, card_id(name)])
                assert (without != present).sum() == 2


def test_irrelevant_cards(
    params: Any, games: list[Game], finals: env.GameState, tmp_path: Path, weights: Path
) -> None:
    result = run(
        *(irrelevant_cards, tmp_path, f"checkpoint={weights}", "fills=4", "beta=0.3", *PLAY)
    )
    assert [len(groups) for groups in result["examples"].values()] == [3, 3]
    for groups in result["examples"].values():
        for rows in groups:
            for row in rows[:-1]:
                assert row["mean_change"] == pytest.approx(row["with"] - row["without"], abs=1e-6)
                assert row["rms_change"] >= abs(row["mean_change"]) - 1e-9
            assert "without" not in rows[-1]  # the irrelevant card itself
    assert len(result["most_irrelevant"]) == irrelevant_cards.LISTED
    changes = [result["cards"][name]["change"] for name in result["most_irrelevant"]]
    assert changes == sorted(changes)

    measure = irrelevant_cards.make_measure(make(SMALL), 0.3)
    sums = positions.sums_over_positions(finals, measure, params, seed=0, batch=4)
    for number, game in enumerate(games):
        count = np.zeros(52)
        for position in positions_of(game)[:48]:
            legal = position.legal()
            lead = position.trick[0][1] // 13 if position.trick else None
            others = [
                card
                for seat in range(4)
                if seat != position.player_to_move()
                for suit, cards in enumerate(position.hands[seat])
                for card in cards
                if suit != lead
            ]
            if len(legal) > 2 and legal[0] // 13 == lead and others:
                count[legal] += 1
        np.testing.assert_array_equal(sums["count"][number], count)
        # Each change of one card is that of another one's move.
        assert sums["moved"][number].sum() == pytest.approx(sums["staying"][number].sum(), rel=1e-4)


def test_strata_and_candidates_of_a_decision() -> None:
    """Two repeats of three scenarios; in the second only two were drawn."""
    holder = np.zeros((2, 3, 52), np.int8)
    holder[:, 1, 5], holder[1, 0, 7] = 2, 1
    valid = np.array([[True, True, True], [True, True, False]])
    q = np.full((2, 52), -np.inf)
    q[:, 3], q[:, 4] = [1.0, 3.0], [2.0, 2.0]
    decision: Any = SimpleNamespace(
        card=np.array([4, 3]),
        q=q,
        weight=np.array([[0.5, 0.3, 0.2], [0.6, 0.4, 0.0]]),
        scenarios=SimpleNamespace(holder=holder, valid=valid),
    )
    score = np.array([[1.0, 0.6, 0.4], [0.9, 0.8, 7.0]])
    rows = worked_examples._strata(decision, score, [5, 7])
    assert [(row["holders"], row["draws"]) for row in rows] == [
        *(([0, 0], 2), ([0, 1], 1), ([2, 0], 2))
    ]
    assert [row["score"] for row in rows] == pytest.approx([0.7, 0.9, 0.7])
    assert [row["share"] for row in rows] == pytest.approx([0.35, 0.3, 0.35])
    rows = worked_examples._candidates(decision)
    assert [(row["card"], row["q"], row["chosen"]) for row in rows] == [
        *(("S5", 2.0, 0.5), ("S6", 2.0, 0.5))
    ]


@pytest.mark.slow
def test_worked_examples(tmp_path: Path, weights: Path) -> None:
    arguments = (f"checkpoint={weights}", "repeats=2", "base=0", "per_legal=1")
    result = run(worked_examples, tmp_path, *arguments)
    assert list(result["examples"]) == list(worked_examples.EXAMPLES)
    cooperation = result["examples"]["DJ cooperation"]
    assert cooperation["key_cards"] == ["DK", "D10"]  # DJ, DA and DQ have been played
    placements = [row["holders"] for row in cooperation["strata"]]
    # Seat 3 is me; the nine placements, each drawn once in both decisions.
    assert placements == [[a, b] for a in (0, 1, 2) for b in (0, 1, 2)]
    assert all(row["draws"] == 2 for row in cooperation["strata"])
    for example in result["examples"].values():
        assert sum(row["share"] for row in example["strata"]) == pytest.approx(1, abs=1e-5)
        assert all(0 < row["score"] <= 1 for row in example["strata"])
        assert sum(row["chosen"] for row in example["candidates"]) == pytest.approx(1)
    spades = [row["card"] for row in result["examples"]["SQ evasion"]["candidates"]]
    assert sorted(spades) == ["S3", "S4", "S5", "S6", "SA"]


def test_input_figures(tmp_path: Path) -> None:
    result = run(input_figures, tmp_path, f"picture={tmp_path / 'input'}")
    assert result["plain"] == {"shape": [3, 52], "sum": 2}
    assert result["diffused"] == {"shape": [3, 54], "sum": 6}
    unseen = 52 - 14 - 10
    assert result["hands"] == {"shape": [4, 52], "sum": 10 + unseen}
    assert result["averaged"]["sum"] == pytest.approx(10 + unseen)


def test_published_numbers_of_cards() -> None:
    found = published.published_cards()
    factor = dict(zip(CARD_NAMES, found["correction_factor"], strict=True))
    assert (factor["SQ"], factor["C8"]) == (0.658, 0.980)
    assert found["spread"][card_id("SQ")] == found["spread"].max() == 29.7
