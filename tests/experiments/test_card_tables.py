"""Experiments about single cards and positions against plain NumPy, on an untrained network."""

import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from experiments.common import blocks, positions
from experiments.common.cli import load_settings
from experiments.common.results import Workplace
from experiments.paper import (
    card_statistics,
    card_values,
    classical,
    denominators,
    input_figures,
    irrelevant_cards,
    published,
    worked_examples,
)
from experiments.report import cards, sections
from experiments.report.figures import Line, Section
from gongzhu_jax import players
from gongzhu_jax.evaluation import Seating
from gongzhu_jax.evaluation.deal_sets import choose_deals
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import CARD_NAMES, card_id, card_ids
from gongzhu_jax.game.public_view import view
from gongzhu_jax.inference.sampling import sample
from gongzhu_jax.network.features import encode, encode_averaged
from gongzhu_jax.network.policy_value import NetworkConfig, make
from gongzhu_jax.network.weights import save_weights
from gongzhu_jax.search.config import SearchConfig
from tests.evaluation.simple_players import mixed_player, random_player
from tests.oracle import iec
from tests.oracle.rules import C10, Game, score

SMALL = NetworkConfig("compact", stem=16, width=8, blocks=1)
BETA = 0.3  # an untrained network has small regrets
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
def fast_player(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games by a player that compiles fast."""
    monkeypatch.setattr(players, "make", lambda name, **_: random_player)


@pytest.fixture(scope="module")
def games() -> list[Game]:
    """Finished random games by the plain-Python rules."""
    rng = np.random.default_rng(1)
    finished = []
    for _ in range(6):
        game = Game(rng.permutation(np.repeat(np.arange(4), 13)).tolist(), 0)
        while not game.is_terminal():
            game.play(int(rng.choice(game.legal())))
        finished.append(game)
    return finished


@pytest.fixture(scope="module")
def finals(games: list[Game]) -> env.GameState:
    owners = np.array([game.owners for game in games], np.int8)
    plays = np.array([[card for _, card in game.plays] for game in games], np.int8)
    return jax.jit(jax.vmap(lambda o, p: env.play_all(env.from_owners(o, 0), p)))(owners, plays)


def before(game: Game, stage: int) -> Game:
    return Game(game.owners, 0, [card for _, card in game.plays[:stage]])


@pytest.fixture(scope="module")
def policy(params: Any, finals: env.GameState) -> np.ndarray:
    """[stage, game, 52] in points: what the policy says to the player to move, times 5."""

    @jax.jit
    def at(stage):
        states = jax.vmap(env.rewind, (0, None))(finals, stage)
        return make(SMALL).apply(params, jax.vmap(encode_averaged)(states))[0] * 5

    return np.stack([np.asarray(at(jnp.int8(stage))) for stage in range(48)])


@pytest.fixture(scope="module")
def values(params: Any, games: list[Game], finals: env.GameState) -> np.ndarray:
    """[stage, game, 52] margin at the end for the mover's team, by the value network after the
    card and the points taken by then, with the signs and points of the plain rules."""

    @jax.jit
    def after(stage):
        states = jax.vmap(env.rewind, (0, None))(finals, stage)
        cards = jnp.arange(52, dtype=jnp.int8)
        each = jax.vmap(jax.vmap(env.step, (None, 0)), (0, None))(states, cards)
        features = jax.vmap(jax.vmap(encode))(each).reshape(-1, 434)
        return make(SMALL).apply(params, features)[1].reshape(len(games), 52)

    table = np.full((48, len(games), 52), np.nan)
    for stage in range(48):
        to_come = np.asarray(after(jnp.int8(stage)))
        for number, game in enumerate(games):
            position = before(game, stage)
            for card in position.legal():
                new = position.copy()
                new.play(card)
                mover, next_mover = position.player_to_move(), new.player_to_move()
                total = margin(new, next_mover) + to_come[number, card]
                sign = 1 if (mover - next_mover) % 2 == 0 else -1
                table[stage, number, card] = sign * total
    return table


def margin(game: Game, seat: int) -> float:
    """Points of the seat's team minus those of the other; a lone C10 counts as the search says."""
    lone = SearchConfig().lone_transformer
    points = [
        lone if [c for c in taken if score([c]) or 13 <= c < 26] == [C10] else score(taken)
        for taken in game.taken
    ]
    return sum(points[s] * (1 if (s - seat) % 2 == 0 else -1) for s in range(4))


def check_section(section: Section) -> None:
    """What pages say of a result: full lines."""
    assert section.tables or section.pictures
    for table in section.tables:
        assert len(table.lines) > 1
        assert {len(line) for line in table.lines} == {len(table.lines[0])}


def ours(line: Line) -> float:
    assert line.figure is not None
    assert line.figure.value is not None
    return line.figure.value


def test_card_statistics(params, games, finals, policy, values) -> None:
    measure = partial(card_statistics.measure, network=make(SMALL), beta=BETA)
    sums = positions.sums_over_positions(finals, measure, params, seed=0, batch=4)
    lists: dict[str, list[list[float]]] = {
        name: [[] for _ in range(52)]
        for name in ("factor", "value", "policy", "output", "original_factor")
    }
    for stage in range(48):
        for number, game in enumerate(games):
            legal = before(game, stage).legal()
            if len(legal) < 2:
                continue
            q, v = policy[stage, number, legal], values[stage, number, legal]
            for card, factor, value, relative in zip(
                legal, np.exp(-BETA * (q.max() - q)), v - v.mean(), q - q.mean(), strict=True
            ):
                lists["factor"][card].append(factor)
                lists["value"][card].append(value)
                lists["policy"][card].append(relative)
                lists["output"][card].append(relative + q.mean())
            _, played = game.plays[stage]
            suit = [card for card in legal if card // 13 == played // 13]
            if CARD_NAMES[played][1:] in ("8", "9", "10", "J", "Q", "K", "A"):
                best = max(policy[stage, number, card] for card in suit)
                for card in suit:
                    regret = best - policy[stage, number, card]
                    lists["original_factor"][card].append(max(1 - BETA * regret, 0.1))
    total = {name: leaf.sum(axis=0) for name, leaf in sums.items()}
    for card in range(52):
        factors = np.array(lists["factor"][card])
        assert total["count"][card] == len(factors)
        assert total["factor"][card] == pytest.approx(factors.sum(), rel=1e-4)
        originals = np.array(lists["original_factor"][card])
        assert total["sliced"][card] == len(originals)
        assert total["original_factor"][card] == pytest.approx(originals.sum(), rel=1e-4, abs=1e-4)
        for name, square in (
            ("value", "square"),
            ("policy", "policy_square"),
            ("output", "output_square"),
        ):
            expected = np.array(lists[name][card])
            assert total[name][card] == pytest.approx(expected.sum(), rel=1e-3, abs=3e-3)
            assert total[square][card] == pytest.approx((expected**2).sum(), rel=1e-3)
    assert np.mean(np.concatenate(lists["factor"])) < 0.98  # factors are not all 1

    section = cards.card_statistics({"blocks": blocks.in_blocks(sums), "games": 6, "beta": BETA})
    check_section(section)
    factor, original, spread, by_policy, output = section.tables
    for card, name in enumerate(CARD_NAMES):
        for table, kind, statistic in (
            (factor, "factor", np.mean),
            (spread, "value", np.std),
            (by_policy, "policy", np.std),
            (original, "original_factor", np.mean),
            (output, "output", np.std),
        ):
            line = table.rows[card]
            assert line.label == name
            if lists[kind][card]:
                expected = float(statistic(lists[kind][card]))
                assert ours(line) == pytest.approx(expected, rel=2e-3, abs=2e-3)
    assert ours(spread.rows[card_id("SQ")]) > 0
    (paper,) = factor.rows[card_id("SQ")].paper
    assert (paper.value, paper.where) == (0.658, "figure")


def test_card_values(params, games, finals, values) -> None:
    """Positions and values by the plain rules, card by card."""
    measure = partial(card_values.measure, network=make(SMALL))
    sums = positions.sums_over_positions(finals, measure, params, seed=0, batch=4)
    expected: dict[str, list[float]] = {name: [] for name in card_values.CARDS}
    late: dict[str, list[float]] = {name: [] for name in card_values.CARDS}
    for stage in range(48):
        for number, game in enumerate(games):
            position = before(game, stage)
            seat = position.player_to_move()
            hand = position.hand(seat)
            played = {card for _, card in position.plays}
            void = position.trick and not position.hands[seat][position.trick[0][1] // 13]
            for name in card_values.CARDS:
                card, key = card_id(name), card_id({"S": "SQ", "D": "DJ", "C": "C10"}[name[0]])
                suit = [c for c in hand if c // 13 == card // 13]
                if void and card in suit and suit[0] < card and key not in {*hand, *played}:
                    keeping = values[stage, number, suit[0]]  # the lowest one goes
                    expected[name].append(keeping - values[stage, number, card])
                    if len(position.plays) >= 28:  # seven tricks are over
                        late[name].append(expected[name][-1])
    assert sum(map(len, late.values())) > 1
    assert sum(map(len, expected.values())) > 8
    for index, name in enumerate(card_values.CARDS):
        assert sums["count"][:, index].sum() == len(expected[name])
        assert sums["late_count"][:, index].sum() == len(late[name])
        for kind, each in (("value", expected[name]), ("late_value", late[name])):
            total = sums[kind][:, index].sum()
            assert total == pytest.approx(sum(each), rel=1e-3, abs=3e-3)
    result = {"blocks": blocks.in_blocks(sums), "cards": list(card_values.CARDS), "games": 6}
    section = cards.card_values(result)
    check_section(section)
    for line in section.tables[0].rows:
        if expected[line.label]:
            assert ours(line) == pytest.approx(np.mean(expected[line.label]), abs=3e-3)
    assert section.tables[0].rows[0].cells["Mr. Greed"] == "-50"
    assert section.tables[0].rows[0].paper[0].text == "-20 to -40"


def test_denominators(params, games, finals) -> None:
    """Y, J and the products against the plain-Python oracle, scenario by scenario."""
    network, few, scenarios = make(SMALL), 2, 3
    states = jax.tree.map(lambda leaf: leaf[:few], finals)
    options = {"network": network, "beta": BETA, "scenarios": scenarios}
    measure = partial(denominators.measure, **options)
    sums = positions.sums_over_positions(states, measure, params, seed=0, batch=few)
    policy = jax.jit(lambda x: network.apply(params, x[None])[0][0])

    @jax.jit
    def draw(key, states, stage):
        def of_game(key, state):
            now = env.rewind(state, stage)
            return sample(key, view(now, env.player_to_move(now)), scenarios)

        return jax.vmap(of_game)(jax.random.split(key, few), states)

    expected: dict[str, float] = dict.fromkeys(sums, 0.0)
    for stage in range(48):
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), 0), stage)
        drawn = np.asarray(draw(key, states, jnp.int8(stage)))
        for game, deals in zip(games, drawn, strict=False):
            position = before(game, stage)
            history = (0, [card for _, card in position.plays], position.player_to_move())
            if len(position.legal()) < 2:
                continue
            products = []
            for deal in deals.tolist():
                slices = np.array(
                    [
                        *iec.class_slices(
                            *(*history, deal, lambda x: policy(np.array(x, np.float32)).tolist()),
                            beta=BETA,
                        )
                    ]
                ).reshape(-1, 3)
                gamma, y, j = slices.T
                expected["slices"] += len(slices) / scenarios
                expected["y"] += y.sum() / scenarios
                expected["j"] += j.sum() / scenarios
                expected["y_above_1"] += (y > 1).sum() / scenarios
                expected["j_above_1"] += (j > 1).sum() / scenarios
                products.append((np.log(gamma).sum(), np.log(y + j / 3).sum()))
                expected["log_gamma"] += products[-1][0] / scenarios
                expected["log_denominator"] += products[-1][1] / scenarios
            kept, dropped = np.array(products).T
            expected["decisions"] += len(slices) > 0
            expected["variance_of_gamma"] += kept.var(ddof=1)
            expected["variance_of_denominators"] += dropped.var(ddof=1)
            expected["variance_of_both"] += (kept - dropped).var(ddof=1)
    assert expected["decisions"] > 20
    for name, total in expected.items():
        assert sums[name].sum() == pytest.approx(total, rel=2e-3), name
    section = cards.denominators({"blocks": blocks.in_blocks(sums), "games": few})
    sizes, spreads = section.tables
    assert ours(sizes.rows[0]) == pytest.approx(expected["y"] / expected["slices"], abs=2e-3)
    ratio = np.sqrt(expected["variance_of_denominators"] / expected["variance_of_gamma"])
    assert ours(spreads.rows[-1]) == pytest.approx(ratio, rel=2e-3)


def test_blocks_know_the_error_of_a_mean() -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, (400, 1))
    sums = {"count": np.ones((400, 1)), "value": values, "square": values**2}
    kept = blocks.in_blocks(sums)
    assert np.shape(kept["value"]) == (20, 1)
    mean, error = blocks.with_errors(blocks.mean_of("value"), kept)
    assert mean[0] == pytest.approx(values.mean(), rel=1e-6)
    of_blocks = values.reshape(20, 20).mean(axis=1)
    assert error[0] == pytest.approx(of_blocks.std(ddof=1) / np.sqrt(20), rel=1e-4)
    assert error[0] == pytest.approx(values.std() / 20, rel=0.4)
    deviation, _ = blocks.with_errors(blocks.deviation_of("value", "square"), kept)
    assert deviation[0] == pytest.approx(values.std(), rel=1e-5)
    nothing = blocks.in_blocks({name: np.zeros((5, 1)) for name in sums})
    assert np.isnan(blocks.with_errors(blocks.mean_of("value"), nothing)).all()


def test_guessed_hands() -> None:
    for name, groups in published.irrelevant_examples().items():
        for group in groups:
            hands = irrelevant_cards.draw_hands(0, name, group, 5)
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


@jax.jit
def _averaged_logits(params: Any, states: env.GameState) -> jax.Array:
    return make(SMALL).apply(params, jax.vmap(encode_averaged)(states))[0]


def averaged_logits(params: Any, states: env.GameState) -> np.ndarray:
    """Of at most 14 states: the batch is filled up, so that one program serves all."""
    count = len(states.stage)
    filled = jax.tree.map(lambda leaf: np.resize(leaf, (14, *leaf.shape[1:])), states)
    return np.asarray(_averaged_logits(params, filled))[:count] * 5


def factors_of(q: np.ndarray, legal: list[int]) -> dict[int, float]:
    best = max(q[card] for card in legal)
    return {card: float(np.exp(-BETA * (best - q[card]))) for card in legal}


def test_irrelevant_cards_are_searched_as_the_paper_defines_them(params, games, finals) -> None:
    """Each legal card in turn is exchanged for an unseen one of another suit, in plain Python."""
    key = jax.random.key(5)
    measure = jax.jit(partial(irrelevant_cards.measure, network=make(SMALL), beta=BETA))
    counted, changes = 0, []
    rewind = jax.jit(jax.vmap(env.rewind, (0, None)))
    for stage in (1, 10, 23):
        states = jax.device_get(rewind(finals, jnp.int8(stage)))
        at = positions.Looked(params, key, states, finals.plays[:, stage])
        sums = jax.tree.map(np.asarray, measure(at))
        keys = jax.random.split(key, len(games))
        for number, game in enumerate(games):
            position = before(game, stage)
            legal, mover = position.legal(), position.player_to_move()
            lead = position.trick[0][1] // 13
            others = [c for s in range(4) if s != mover for c in position.hand(s)]
            others = [card for card in others if card // 13 != lead]
            expected = {name: np.zeros(52) for name in ("count", "moved", "staying")}
            if len(legal) > 2 and legal[0] // 13 == lead and others:
                draws = np.asarray(jax.random.uniform(keys[number], (52,)))
                incoming = max(others, key=lambda card: draws[card])
                state = jax.tree.map(lambda leaf, n=number: leaf[n], states)
                holder = np.array(state.holder)
                exchanged = []
                for card in legal:
                    new = holder.copy()
                    new[card], new[incoming] = holder[incoming], mover
                    exchanged.append(state.replace(holder=new))
                batch = jax.tree.map(lambda *leaves: np.stack(leaves), state, *exchanged)
                q = averaged_logits(params, batch)
                first = factors_of(q[0], legal)
                for gone, logits in zip(legal, q[1:], strict=True):
                    left = [card for card in legal if card != gone]
                    for card, factor in factors_of(logits, left).items():
                        change = abs(factor - first[card]) / len(left)
                        expected["moved"][gone] += change
                        expected["staying"][card] += change
                        changes.append(change)
                expected["count"][legal] = 1
                counted += 1
            for name, figures in expected.items():
                np.testing.assert_allclose(sums[name][number], figures, atol=2e-5)
    assert counted > 3
    assert max(changes) > 1e-3  # they are not all 0


def test_examples_of_irrelevant_cards(params, weights, places) -> None:
    arguments = [f"checkpoint='{weights}'", "fills=4", f"beta={BETA}", *PLAY]
    assert irrelevant_cards.main(arguments) == 0
    result = json.loads((places / "runs" / "irrelevant_cards.json").read_text())["result"]
    group = published.irrelevant_examples()["SJ"][1]
    hands = irrelevant_cards.draw_hands(0, "SJ", group, 4)
    step = jax.jit(jax.vmap(lambda owners, lead: env.step(env.from_owners(owners, 0), lead)))
    both: dict[str, list[dict[str, float]]] = {}
    for kind, owners in (("without", hands.without), ("with", hands.present)):
        q = averaged_logits(params, step(jnp.asarray(owners), jnp.asarray(hands.leads)))
        names = {card_id(c): c for c in group if kind == "with" or c != "SJ"}
        expected = [factors_of(row, list(names)) for row in q]
        both[kind] = [{names[card]: of[card] for card in names} for of in expected]
        for name in names.values():
            kept = np.sum(result["examples"]["SJ"][1][name][kind])
            assert kept == pytest.approx(sum(of[name] for of in both[kind]), rel=1e-4)
    section = cards.irrelevant_cards(result)
    check_section(section)
    lines = {line.label: line for table in section.tables for line in table.rows}
    for name in both["without"][0]:
        pairs = zip(both["with"], both["without"], strict=True)
        change = np.sqrt(np.mean([(one[name] - other[name]) ** 2 for one, other in pairs]))
        said = lines[f"group 2: {name} with SJ"].cells["rms change"]
        assert change > 1e-3
        assert float(said) == pytest.approx(change, abs=1e-4)
    assert [len(table.rows) for table in section.tables] == [17, 17, 10]
    larger = [
        max(ours(line), float(line.cells["its change when others move"].split()[0]))
        for line in section.tables[2].rows
    ]
    assert np.all(np.diff(larger) > -1e-3)  # in order, as far as they are printed


def test_strata_and_candidates_of_a_decision() -> None:
    """Two repeats of three scenarios; in the second only two were drawn."""
    holder = np.zeros((2, 3, 52), np.int8)
    holder[:, 1, 5], holder[1, 0, 7] = 2, 1
    valid = np.array([[True, True, True], [True, True, False]])
    q = np.full((2, 52), -np.inf)
    q[:, 3], q[:, 4] = [1.0, 3.0], [2.0, 2.5]
    decision: Any = SimpleNamespace(
        card=np.array([4, 3]),
        q=q,
        weight=np.array([[0.5, 0.3, 0.2], [0.6, 0.4, 0.0]]),
        scenarios=SimpleNamespace(holder=holder, valid=valid),
    )
    scores = np.array([[1.0, 0.6, 0.4], [0.9, 0.8, 7.0]])
    plain = worked_examples.plain_decision(decision, scores, [5, 7])
    example = {"seat": 3, "hand": "", "leader": 0, "plays": "", "key_cards": ["S7", "S9"], **plain}
    section = sections.worked_examples({"examples": {"X": example}})
    check_section(section)
    strata, candidates = section.tables
    # Where seat 0 holds S7: scores 1, .4 and .9; where seat 2 does: .6 and .8.
    assert [line.label for line in strata.rows] == [
        *("X, S7 with seat 0 (next)", "X, S7 with seat 2 (previous)")
    ]
    assert [ours(line) for line in strata.rows] == pytest.approx([2.3 / 3, 0.7])
    assert [line.cells["share of the weight"] for line in strata.rows] == ["65.0%", "35.0%"]
    assert [(line.label, ours(line)) for line in candidates.rows] == [*(("S6", 2.25), ("S5", 2.0))]
    assert [line.cells["chosen"] for line in candidates.rows] == ["50%", "50%"]


@pytest.mark.slow
def test_worked_examples(weights: Path, places: Path) -> None:
    arguments = [f"checkpoint='{weights}'", "repeats=2", "search.base=0", "search.per_legal=1"]
    assert worked_examples.main(arguments) == 0
    result = json.loads((places / "runs" / "worked_examples.json").read_text())["result"]
    cooperation = result["examples"]["DJ cooperation"]
    assert cooperation["key_cards"] == ["DK", "D10"]  # DJ, DA and DQ have been played
    placements = sorted(draw["holders"] for draw in cooperation["draws"])
    # Seat 3 is me; the nine placements, each drawn once in both decisions.
    assert placements == sorted([a, b] for a in (0, 1, 2) for b in (0, 1, 2) for _ in range(2))
    for example in result["examples"].values():
        assert sum(draw["weight"] for draw in example["draws"]) == pytest.approx(2, abs=1e-3)
        assert all(0 < draw["score"] <= 1 for draw in example["draws"])
    assert sorted(result["examples"]["SQ evasion"]["q"]) == ["S3", "S4", "S5", "S6", "SA"]
    check_section(sections.worked_examples(result))


def test_classical() -> None:
    """Points of seats by the plain rules, with and without a lone C10."""
    deals = choose_deals("development-1", 40).deals
    seats = (mixed_player, random_player, random_player, random_player)
    played = Seating(seats, rotations=4, batch=40).play(deals, keep_states=True)
    expected = {"points": 0.0, "square": 0.0, "without_c10": 0.0, "count": 0}
    for record in played.records():
        game = Game(record.deal, record.leader, record.plays)
        for taken in game.taken[1:]:
            points = score(taken)
            lone = [c for c in taken if score([c]) or 13 <= c < 26] == [C10]
            expected["points"] += points
            expected["square"] += points**2
            expected["without_c10"] += 0 if lone else points
            expected["count"] += 1
    assert expected["without_c10"] != expected["points"]  # there was a lone C10
    kept = classical.seat_blocks(played, "random")
    assert {name: np.sum(leaf) for name, leaf in kept.items()} == pytest.approx(expected)
    section = sections.classical({"deals": 40, "blocks": {"random of four random": kept}})
    (line,) = section.tables[0].rows
    mean = expected["points"] / expected["count"]
    assert ours(line) == pytest.approx(mean)
    deviation = np.sqrt(expected["square"] / expected["count"] - mean**2)
    assert line.cells["sd"] == f"{deviation:.1f}"


def test_input_figures(places: Path) -> None:
    assert input_figures.main([]) == 0
    parts = {name: np.array(part) for name, part in input_figures.inputs(0).items()}
    assert (parts["plain"].shape, parts["plain"].sum()) == ((3, 52), 2)
    assert (parts["diffused"].shape, parts["diffused"].sum()) == ((3, 54), 6)
    unseen = 52 - 14 - 10
    assert (parts["hands"].shape, parts["hands"].sum()) == ((4, 52), 10 + unseen)
    assert parts["averaged"].sum() == pytest.approx(10 + unseen)
    for picture in ("input_diffuse.png", "input_averaged.png"):
        assert (places / "runs" / picture).stat().st_size > 10_000


def test_experiments_are_functions(weights: Path) -> None:
    """From Python, without a command line."""
    settings = load_settings(
        "paper/card_values", positions.PositionSettings, [f"checkpoint='{weights}'", *PLAY]
    )
    result = card_values.run(settings, Workplace("a test"))
    assert np.shape(result["blocks"]["value"]) == (4, 9)


def test_published_numbers() -> None:
    factor = dict(zip(CARD_NAMES, published.by_card("correction_factor"), strict=True))
    assert (factor["SQ"], factor["C8"]) == (0.658, 0.980)
    spread = published.by_card("spread")
    assert spread[card_id("SQ")] == spread.max() == 29.7
    text, logs = published.paper_numbers("round_robin", "greed over random")
    assert (text.text, text.where) == ("275", "text")  # the paper prints no error
    assert (logs.text, logs.where) == ("275.2 ± 5.3", "logs")
    with pytest.raises(ValueError, match="where must be one of"):
        published.PaperNumber(1.0, "hearsay")
