"""Commands about what the player thinks, with a small untrained network."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from experiments import analyse, belief_quality, comparison, oracle_gap, techniques
from gongzhu_jax import players, records
from gongzhu_jax.evaluation import play_match, standard_deals
from gongzhu_jax.game.cards import CARD_NAMES
from gongzhu_jax.inference.constraints import constraints, opponents
from gongzhu_jax.inference.correction import log_weights
from gongzhu_jax.inference.sampling import sample
from gongzhu_jax.network.policy_value import NetworkConfig, make
from gongzhu_jax.network.weights import load_weights, save_weights
from gongzhu_jax.opponents import odds
from gongzhu_jax.opponents.card_belief import KIND, BeliefConfig, init_belief, log_odds
from gongzhu_jax.players import all_seeing
from tests import beliefs, positions
from tests.evaluation.simple_players import high_player, mixed_player, random_player

SMALL = NetworkConfig("compact", stem=16, width=8, blocks=1)
STAGE = 22


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "small.safetensors"
    save_weights(path, SMALL, make(SMALL).init(jax.random.key(0)), {})
    return path


@pytest.fixture(scope="module")
def record(tmp_path_factory) -> dict[str, Any]:
    """A finished game, as a line of a record file."""
    match = play_match(random_player, random_player, 1, keep_states=True, batch=1)
    path = tmp_path_factory.mktemp("game") / "game.jsonl"
    records.write(path, match.seating.records()[:1])
    return json.loads(path.read_text())


def mover(record: dict[str, Any], stage: int) -> int:
    """Whose turn it is, from the winners of the tricks before."""
    leader = record["leader"]
    for start in range(0, stage - stage % 4, 4):
        trick = record["plays"][start : start + 4]
        ranks = ["23456789TJQKA".index(card.replace("10", "T")[1]) for card in trick]
        best = max((i for i in range(4) if trick[i][0] == trick[0][0]), key=lambda i: ranks[i])
        leader = (leader + best) % 4
    return (leader + stage % 4) % 4


def pasted(record: dict[str, Any], stage: int, seat: int) -> dict[str, Any]:
    """The same position as a person would type it in."""
    played = record["plays"][:stage]
    dealt = [CARD_NAMES[card] for card in range(52) if record["deal"][card] == seat]
    hand = " ".join(card for card in dealt if card not in played)
    return {"seat": seat, "hand": hand, "leader": record["leader"], "plays": " ".join(played)}


def run_analyse(folder: Path, content: Any, weights: Path) -> tuple[int, Path]:
    (folder / "position.json").write_text(json.dumps(content))
    output = folder / "found"
    arguments = [str(folder / "position.json"), f"options.checkpoint={weights}"]
    arguments += ["options.search.per_legal=1", "options.search.base=0", f"output={output}"]
    return analyse.main(analyse.with_file(arguments)), output


def test_analyse(tmp_path: Path, record: dict[str, Any], weights: Path) -> None:
    code, output = run_analyse(tmp_path, {**record, "stage": STAGE}, weights)
    assert code == 0
    assert output.with_suffix(".png").stat().st_size > 5000
    found = json.loads(output.with_suffix(".json").read_text())
    seat = mover(record, STAGE)
    assert found["seat"] == seat
    hand = pasted(record, STAGE, seat)["hand"].split()
    suit = record["plays"][STAGE - STAGE % 4][0]
    legal = [card for card in hand if card[0] == suit] or hand
    assert sorted(row["card"] for row in found["candidates"]) == sorted(legal)
    assert found["card"] == found["candidates"][0]["card"]
    assert found["candidates"] == sorted(found["candidates"], key=lambda row: -row["q"])

    # Scenarios deal the unseen cards out to the others; belief is their weighted average.
    unseen = set(CARD_NAMES) - set(hand) - set(record["plays"][:STAGE])
    held = np.zeros((len(CARD_NAMES), 4))
    for row in found["scenarios"]:
        hands = {int(name.split()[1]): cards.split() for name, cards in row.items() if " " in name}
        dealt = [card for cards in hands.values() for card in cards]
        assert sorted(dealt) == sorted(unseen)
        for other, cards in hands.items():
            held[[CARD_NAMES.index(card) for card in cards], other] += row["weight"]
    assert sum(row["weight"] for row in found["scenarios"]) == pytest.approx(1)
    size = 1 / sum(row["weight"] ** 2 for row in found["scenarios"])
    assert found["effective_sample_size"] == pytest.approx(size, rel=1e-4)
    for card, shares in found["believed_owners"].items():
        np.testing.assert_allclose(shares, held[CARD_NAMES.index(card)], atol=1e-3)

    # The view of a record and the same typed in are one.
    (tmp_path / "pasted").mkdir()
    code, output = run_analyse(tmp_path / "pasted", pasted(record, STAGE, seat), weights)
    again = json.loads(output.with_suffix(".json").read_text())
    assert code == 0
    assert {**again, "command": ""} == {**found, "command": ""}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: {**record, "stage": 52}, "stage to look at"),
        (lambda record: pasted(record, STAGE, (mover(record, STAGE) + 1) % 4), "it is the turn of"),
        (lambda record: {"seat": 0, "leader": 0}, "a position needs hand"),
        (lambda record: [1, 2], "a position is a JSON object"),
    ],
)
def test_analyse_refuses(
    tmp_path: Path,
    record: dict[str, Any],
    weights: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[dict[str, Any]], Any],
    message: str,
) -> None:
    code, output = run_analyse(tmp_path, change(record), weights)
    assert code == 2
    assert message in capsys.readouterr().err
    assert not output.with_suffix(".json").exists()


@pytest.fixture
def simple_players(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Searching players replaced by ones that compile fast, differing by their options."""

    def simple(name: str, **options: Any) -> players.Player:
        chosen = high_player if options.get("weights.rule") == "iec" else mixed_player
        chosen = random_player if name == "greed" else chosen
        return replace(chosen, name=name, config=sorted(options.items()))

    monkeypatch.setattr(players, "make", simple)
    monkeypatch.setattr(all_seeing, "from_network", lambda *_: replace(high_player, name="all"))
    monkeypatch.setattr(comparison, "PARTS", tmp_path / "parts")


PLAY = ("deals=6", "batch=6")


@pytest.mark.usefixtures("simple_players")
def test_techniques(tmp_path: Path) -> None:
    out = tmp_path / "techniques.json"
    assert techniques.main([f"output={out}", *PLAY]) == 0
    rows = json.loads(out.read_text())["result"]["rows"]
    deals = standard_deals("development", 6)
    plain = play_match(mixed_player, random_player, deals, batch=6).margins
    weighted = play_match(high_player, random_player, deals, batch=6).margins
    assert list(rows) == list(techniques.PAPER)
    assert rows["US"]["mean"] == rows["SS"]["mean"] == pytest.approx(plain.mean())
    assert rows["SS with IEC"]["mean"] == pytest.approx(weighted.mean())
    assert rows["SS with IEC"]["over_us"]["mean"] == pytest.approx((weighted - plain).mean())
    against = play_match(high_player, mixed_player, deals, batch=6)
    assert rows[techniques.HEAD_TO_HEAD]["mean"] == pytest.approx(against.mean)


@pytest.mark.usefixtures("simple_players")
def test_oracle_gap(tmp_path: Path, weights: Path) -> None:
    out, picture = tmp_path / "gap.json", tmp_path / "gap.png"
    arguments = [f"output={out}", f"picture={picture}", f"checkpoint={weights}", *PLAY]
    assert oracle_gap.main([*arguments, "deals_of_most=4"]) == 0
    rows = json.loads(out.read_text())["result"]["rows"]
    assert list(rows) == [oracle_gap.ALL_SEEING, *oracle_gap.PLAYERS]
    assert rows["256 uniform"]["deals"] == 4
    assert rows["256 uniform"]["over_first"]["mean"] == 0  # the same player here
    assert "over_first" not in rows[oracle_gap.FIRST]
    assert picture.stat().st_size > 5000


def test_weightings_measured_together_are_those_of_the_player(weights: Path) -> None:
    """One evaluation of every slice serves all; the player evaluates only what counts."""
    asked = [
        belief_quality.Weighting("iec", "important", 0.05),
        belief_quality.Weighting("iec", "every", 0.15),
        belief_quality.Weighting("bayes", "every", 0.1),
    ]
    views = positions.random_views(3, [9, 22, 41])
    keys = jax.random.split(jax.random.key(0), 3)
    holder = jax.vmap(lambda key, view: sample(key, view, 4))(keys, views)
    found = belief_quality.weigh_all(str(weights), asked)(views, holder)
    network, params = load_weights(weights)
    for each in asked:
        beta = jnp.float32(each.beta)
        alone, _, _ = log_weights(params, views, holder, beta, make(network), each.config)
        assert np.ptp(alone) > 0.01
        np.testing.assert_allclose(found[each.name], alone, atol=1e-4)


@pytest.mark.slow
def test_likelihood_by_draws_is_the_exact_one(tmp_path: Path) -> None:
    """Of a belief the sum over all deals is known; draws estimate it, whatever is weighed."""
    config, params = load_weights(beliefs.save_small(tmp_path), KIND)
    states = positions.random_states(3, [6, 21, 33, 41])
    views = positions.mover_views(states)
    numbers = log_odds(params, views, config)

    @jax.jit
    def both(key, numbers):
        drawn = belief_quality.draw_both(key, views, numbers, states.holder, 2000)
        figures, shares = belief_quality.weigh_draws(views, states, drawn, drawn.log_belief)
        exact = jax.vmap(lambda n, v: odds.marginals(n, constraints(v)))(numbers, views)
        total = jax.vmap(lambda n, v: odds.weigh(n, constraints(v)).log_total)(numbers, views)
        true = jax.vmap(odds.log_weight)(numbers, jax.vmap(opponents)(views, states.holder))
        return figures[1] * jnp.sum(exact, (1, 2)), true - total, shares, exact

    found, wanted, shares, exact = both(jax.random.key(0), numbers)
    np.testing.assert_allclose(found, wanted, atol=0.15)
    np.testing.assert_allclose(jnp.where(exact > 0, shares, 0), exact, atol=0.06)
    assert np.ptp(np.asarray(exact)) > 0.5


@pytest.mark.usefixtures("simple_players")
def test_belief_quality(tmp_path: Path, weights: Path) -> None:
    config = BeliefConfig(reader=8, width=8, blocks=1)
    belief = tmp_path / "belief.safetensors"
    save_weights(belief, config, init_belief(jax.random.key(0), config), {}, kind=KIND)
    model = beliefs.save_opponent_model(tmp_path)
    out, picture = tmp_path / "quality.json", tmp_path / "quality.png"
    arguments = [
        f"checkpoint={weights}",
        f"belief={belief}",
        f"opponent_model={model}",
        f"output={out}",
    ]
    arguments += [
        f"picture={picture}",
        "players=[raw]",
        "scenarios=6",
        "scenarios_of_opponent_model=6",
        "iec=[0.05]",
        "bayes=[0.1]",
    ]
    arguments.append("belief_powers=[1.0]")
    assert belief_quality.main([*arguments, "deals=2", "batch=2"]) == 0
    assert picture.stat().st_size > 5000
    result = json.loads(out.read_text())["result"]
    names = ["uniform", "bayes 0.1, every", "belief", "belief-bayes 0.1, every"]
    names += ["belief-opponent-model, power 0.7", "iec 0.05, every", "iec 0.05, important"]
    names += ["opponent-model"]
    assert [row["weights"] for row in result["rows"]] == names * len(belief_quality.PARTS)
    for row in result["rows"]:
        assert 1 / 6 <= row["effective_share"] <= 1 + 1e-5
        # Three places for a card: chance says -1.1, and what is not trained not much else.
        assert -3 < row["owners"] < -0.2
        if row["weights"] == "uniform":
            assert row["gain"] == 0
            assert row["effective_share"] == pytest.approx(1)
        if row["weights"] == "belief":
            assert abs(row["gain"]) < 1e-6  # untrained, all odds are even
        if row["weights"] in ("belief", "opponent-model"):
            rivals = [other for other in result["rows"] if other["stage"] == row["stage"]]
            for rival in ("iec", "bayes"):
                best = max(r["gain"] for r in rivals if r["weights"].startswith(rival))
                assert row[f"over_{rival}"] == pytest.approx(row["gain"] - best, abs=1e-6)
                assert row[f"over_{rival}_standard_error"] >= 0
    first = result["rows"][0]
    # Before and in the first trick: 39! / 13!^3 deals, less what has been played.
    assert first["stage"] == "trick 1"
    assert first["deal"] == pytest.approx(-math.log(84_478_098_072_866_400) / 39, rel=0.05)
    assert set(result["calibration"]) == {f"raw, {name}" for name in (names[2], names[4])}
    found = result["calibration"]["raw, belief"]
    error = np.abs(np.array(found["stated"]) - found["true"]) @ found["count"]
    total = sum(found["count"])
    assert found["expected_calibration_error"] == pytest.approx(error / total, abs=1e-5)
    assert np.dot(found["stated"], found["count"]) == pytest.approx(
        np.dot(found["true"], found["count"]), rel=1e-3
    )  # every unseen card has one holder
