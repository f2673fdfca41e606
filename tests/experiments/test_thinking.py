"""Commands about what the player thinks, with a small untrained network."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from experiments import analyse, belief_quality, compare
from experiments.common.cli import load_settings
from experiments.common.results import Workplace
from experiments.paper.published import paper_rows
from experiments.report.belief import best_of, calibration_error, gain
from experiments.report.sections import section_of
from gongzhu_jax import players, records
from gongzhu_jax.errors import ConfigError
from gongzhu_jax.evaluation import play_match
from gongzhu_jax.evaluation.fingerprint import program_digest
from gongzhu_jax.game.cards import CARD_NAMES
from gongzhu_jax.inference.config import WeightConfig
from gongzhu_jax.inference.constraints import constraints, opponents
from gongzhu_jax.inference.correction import log_weights
from gongzhu_jax.inference.sampling import sample
from gongzhu_jax.network.policy_value import NetworkConfig, make
from gongzhu_jax.network.weights import load_weights, save_weights
from gongzhu_jax.opponents import odds
from gongzhu_jax.opponents.card_belief import KIND, BeliefConfig, init_belief, log_odds
from gongzhu_jax.players import all_seeing, registry
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
    output = folder / "analysis"
    arguments = [str(folder / "position.json"), f"options.checkpoint='{weights}'"]
    arguments += ["options.search.per_legal=1", "options.search.base=0", f"output={output}"]
    return analyse.main(arguments), output


def test_analyse(tmp_path: Path, record: dict[str, Any], weights: Path) -> None:
    code, output = run_analyse(tmp_path, {**record, "stage": STAGE}, weights)
    assert code == 0
    assert output.with_suffix(".png").stat().st_size > 5000
    analysis = json.loads(output.with_suffix(".json").read_text())
    seat = mover(record, STAGE)
    assert analysis["seat"] == seat
    hand = pasted(record, STAGE, seat)["hand"].split()
    suit = record["plays"][STAGE - STAGE % 4][0]
    legal = [card for card in hand if card[0] == suit] or hand
    assert sorted(row["card"] for row in analysis["candidates"]) == sorted(legal)
    assert analysis["card"] == analysis["candidates"][0]["card"]
    assert analysis["candidates"] == sorted(analysis["candidates"], key=lambda row: -row["q"])

    # Scenarios deal the unseen cards out to the others; belief is their weighted average.
    unseen = set(CARD_NAMES) - set(hand) - set(record["plays"][:STAGE])
    held = np.zeros((len(CARD_NAMES), 4))
    for row in analysis["scenarios"]:
        hands = {int(name.split()[1]): cards.split() for name, cards in row.items() if " " in name}
        dealt = [card for cards in hands.values() for card in cards]
        assert sorted(dealt) == sorted(unseen)
        for other, cards in hands.items():
            held[[CARD_NAMES.index(card) for card in cards], other] += row["weight"]
    assert sum(row["weight"] for row in analysis["scenarios"]) == pytest.approx(1)
    size = 1 / sum(row["weight"] ** 2 for row in analysis["scenarios"])
    assert analysis["effective_sample_size"] == pytest.approx(size, rel=1e-4)
    for card, shares in analysis["believed_owners"].items():
        np.testing.assert_allclose(shares, held[CARD_NAMES.index(card)], atol=1e-3)

    # The view of a record and the same typed in are one.
    (tmp_path / "pasted").mkdir()
    code, output = run_analyse(tmp_path / "pasted", pasted(record, STAGE, seat), weights)
    again = json.loads(output.with_suffix(".json").read_text())
    assert code == 0
    assert {**again, "command": ""} == {**analysis, "command": ""}


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


ROWS = (
    *(
        "techniques",
        "weightings",
        "inputs",
        "strength",
        "parts",
        "alternatives",
        "refinements",
        "partners",
        "anytime",
    ),
    "oracle_gap",
)
TRAINED_AGAIN = "retrained"  # has a network that is not in the package


@pytest.mark.parametrize("name", [*ROWS, TRAINED_AGAIN])
def test_published_comparisons(name: str, places: Path, monkeypatch) -> None:
    """Every row has the players that the file says, on the same deals; here ones that compile
    fast and differ by their options."""
    made: dict[str, players.Player] = {}

    def simple(player: str, **options: Any) -> players.Player:
        number = len(made) % 2
        made[str((player, options))] = (high_player, mixed_player)[number]
        chosen = random_player if player == "greed" else made[str((player, options))]
        return replace(chosen, name=player, config=sorted(options.items(), key=str))

    monkeypatch.setattr(registry, "make", simple)
    monkeypatch.setattr(all_seeing, "from_network", lambda *_: replace(high_player, name="all"))
    assert compare.main([f"rows={name}", "deals=2", "batch=2"]) == 0
    result = json.loads((places / "runs" / f"{name}.json").read_text())["result"]
    settings = load_settings("compare", compare.CompareSettings, [f"rows={name}"])
    assert list(result["rows"]) == list(settings.matches)
    assert len(result["differences"]) == len(settings.differences)
    for pair, difference in zip(settings.differences, result["differences"].values(), strict=True):
        first, second = (result["rows"][row]["mean"] for row in pair)
        assert difference["mean"] == pytest.approx(first - second)
    timed = list(result["rows"]) if name == "anytime" else []
    assert list(result.get("milliseconds", ())) == timed
    drawn = [path.stem for path in (places / "runs").glob("*.png")]
    assert drawn == ([name] if name in ("anytime", "oracle_gap") else [])
    paper = paper_rows(name)
    named = {*result["rows"], *result["differences"]}
    assert set(paper) <= named  # the paper's rows have these names


def test_time_of_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    """The median over single decisions, without the one that compiles."""
    clock, calls = [0.0], []

    def act(view: Any, key: Any) -> None:
        assert view.hand.shape == (52,)
        clock[0] += (60.0, 0.001, 0.002, 0.009)[0 if not calls else 1 + len(calls) % 3]
        calls.append(key)

    monkeypatch.setattr(compare.time, "perf_counter", lambda: clock[0])
    player: Any = SimpleNamespace(act=act)
    assert compare.move_milliseconds(player) == pytest.approx(2.0)
    assert len(calls) == 65


@pytest.mark.parametrize("name", ROWS)
def test_players_of_published_comparisons_exist(name: str) -> None:
    settings = load_settings("compare", compare.CompareSettings, [f"rows={name}"])
    labels = list(dict.fromkeys(settings.labels))
    assert len({digest_of(label, settings) for label in labels}) == len(labels)  # all differ


_digests: dict[str, str] = {}


def digest_of(label: str, settings: compare.CompareSettings) -> str:
    """The digest of a player's program, which many comparisons share."""
    key = json.dumps([label, settings.players.get(label), settings.checkpoint])
    if key not in _digests:
        _digests[key] = program_digest(compare.make_player(label, settings))
    return _digests[key]


def test_who_sees_all_has_a_checkpoint_and_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    monkeypatch.setattr(all_seeing, "from_network", lambda *of: given.append(of))

    def make(options: dict[str, Any]) -> None:
        arguments = ["matches={x:[sees-all@x,greed]}"]
        settings = load_settings("compare", compare.CompareSettings, arguments)
        compare.make_player("sees-all@x", replace(settings, players={"sees-all@x": options}))

    make({"checkpoint": "critic", "search": {"base": 3}})
    (_, params, search), critic = given[0], load_weights("critic")[1]
    jax.tree.map(np.testing.assert_array_equal, params, critic)
    assert search.base == 3
    with pytest.raises(ConfigError, match="checkpoint and search, not 'depth'"):
        make({"depth": 3})


def test_comparisons_of_other_experiments_have_their_settings(monkeypatch) -> None:
    monkeypatch.setattr(compare, "run", lambda settings, work: vars(settings))
    load = ["matches={x:[if,greed]}", "rotations=4", "deals=3", "seed=5", "chunk=2", "batch=6"]
    outer = load_settings("compare", compare.CompareSettings, load)
    inner = compare.run_other("other", {"matches": outer.matches}, outer, Workplace("test"))
    for name in ("rotations", "deals", "seed", "chunk", "batch", "set"):
        assert inner[name] == getattr(outer, name)


def test_weightings_measured_together_are_those_of_the_player(weights: Path) -> None:
    """One evaluation of every slice serves all; the player evaluates only what counts."""
    asked = {
        "a": WeightConfig(rule="iec", slices="important", beta=0.05),
        "b": WeightConfig(rule="iec", slices="every", beta=0.15),
        "c": WeightConfig(rule="bayes", slices="every", beta=0.1),
        "d": WeightConfig(rule="iec-class", slices="important", beta=0.05),
    }
    views = positions.random_views(3, [9, 22, 41])
    keys = jax.random.split(jax.random.key(0), 3)
    holder = jax.jit(jax.vmap(lambda key, view: sample(key, view, 4)))(keys, views)
    analysis = jax.jit(belief_quality.weigh_all(str(weights), asked))(views, holder)
    network, params = load_weights(weights)
    weigh = jax.jit(log_weights, static_argnums=(4, 5))
    for name, config in asked.items():
        beta = jnp.float32(config.beta)
        alone = weigh(params, views, holder, beta, make(network), config).log_weight
        assert np.ptp(alone) > 0.01
        np.testing.assert_allclose(analysis[name], alone, atol=1e-4)


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

    analysis, wanted, shares, exact = both(jax.random.key(0), numbers)
    np.testing.assert_allclose(analysis, wanted, atol=0.15)
    np.testing.assert_allclose(jnp.where(exact > 0, shares, 0), exact, atol=0.06)
    assert np.ptp(np.asarray(exact)) > 0.5


def test_belief_quality(places: Path, tmp_path: Path, weights: Path, monkeypatch) -> None:
    monkeypatch.setattr(registry, "make", lambda name, **_: random_player)
    config = BeliefConfig(reader=8, width=8, blocks=1)
    belief = tmp_path / "belief.safetensors"
    save_weights(belief, config, init_belief(jax.random.key(0), config), {}, kind=KIND)
    model = beliefs.save_opponent_model(tmp_path)
    arguments = [f"checkpoint='{weights}'", f"belief='{belief}'", f"opponent_model='{model}'"]
    arguments += ["players=[raw]", "scenarios=6", "scenarios_of_opponent_model=6", "iec=[0.015]"]
    arguments += ["iec_class=[0.015]", "bayes=[0.1]", "belief_powers=[1.0]", "deals=2", "batch=2"]
    assert belief_quality.main(arguments) == 0
    assert (places / "runs" / "belief_quality.png").stat().st_size > 5000
    result = json.loads((places / "runs" / "belief_quality.json").read_text())["result"]
    names = {"uniform", "bayes 0.1, every", "belief", "belief-bayes 0.1, every"}
    names |= {"belief-opponent-model, power 0.7", "opponent-model"}
    names |= {"iec 0.015, every", "iec 0.015, important", "iec-class 0.015, important"}
    stages = result["stages"]["raw"]
    assert list(stages) == list(belief_quality.PARTS)
    for by_weighting in stages.values():
        assert set(by_weighting) == names
        means = {name: np.mean(by["deal"]) for name, by in by_weighting.items()}
        for name, by in by_weighting.items():
            assert 1 / 6 <= by["share"] <= 1 + 1e-5
            # Three places for a card: chance says -1.1, and what is not trained not much else.
            assert -3 < by["owners"] < -0.2
            measured = gain(by_weighting, name)
            assert measured.value == pytest.approx(means[name] - means["uniform"], abs=1e-5)
        assert by_weighting["uniform"]["share"] == pytest.approx(1)
        assert abs(gain(by_weighting, "belief").value or 0.0) < 1e-5  # untrained: even odds
        best = max(("iec 0.015, every", "iec 0.015, important"), key=lambda name: means[name])
        assert best_of(by_weighting, "iec") == best
    # Before and in the first trick: 39! / 13!^3 deals, less what has been played.
    first = np.mean(stages["trick 1"]["uniform"]["deal"])
    assert first == pytest.approx(-math.log(84_478_098_072_866_400) / 39, rel=0.05)
    bins = np.array(result["calibration"]["raw"]["belief"])
    assert calibration_error(bins) == pytest.approx(
        np.abs(bins[:, 1] - bins[:, 2]).sum() / bins[:, 0].sum()
    )
    section = section_of("belief_quality", result)
    paper, best, classes = section.tables[:3]
    assert paper.caption == "Games of raw: IEC of the paper, beta 0.015 on important plays"
    assert paper.rows[3].figure == gain(stages["tricks 5-6"], "iec 0.015, important")
    assert best.caption == "Games of raw: best IEC"
    assert {len(line) for line in best.lines} == {4}
    assert classes.rows[0].cells["setting"] == "0.015, important"
