"""The commands, in process and small: what they write, print and refuse."""

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from experiments import classical, comparison, evaluate, report_tables, round_robin
from gongzhu_jax import players, records
from gongzhu_jax.evaluation import play_match, standard_deals
from tests.evaluation.simple_players import high_player, mixed_player, random_player

SMALL = ("deals=6", "batch=64")


@pytest.fixture(autouse=True)
def simple_players(monkeypatch):
    """The commands with players that compile fast. Other names and options go to the real ones."""
    simple = {
        "random": replace(random_player, name="random"),
        "if": replace(high_player, name="if"),
        "greed": replace(mixed_player, name="greed"),
    }
    real = players.make

    def make(name: str, **options):
        return real(name, **options) if options or name not in simple else simple[name]

    monkeypatch.setattr(players, "make", make)
    monkeypatch.setenv("COLUMNS", "200")  # tables without line breaks


def read(path: Path) -> dict:
    return json.loads(path.read_text())


def test_evaluate(tmp_path, capsys):
    out = tmp_path / "match.json"
    code = evaluate.main(["player=greed", "opponent=random", "seed=3", f"output={out}", *SMALL])
    assert code == 0
    kept = read(out)
    assert kept["name"] == "match"
    assert kept["seed"] == 3
    assert kept["commit"]
    assert kept["config"]["player"] == "greed"
    assert kept["config"]["set"] == "development"
    assert kept["command"].startswith("python -m experiments.evaluate player=greed opponent=random")
    expected = play_match(
        mixed_player, random_player, standard_deals("development", 6), seed=3, batch=64
    )
    result = kept["result"]
    assert result["players"] == ["greed", "random"]
    assert result["mean"] == expected.mean
    assert result["standard_error"] == expected.standard_error
    assert result["interval_95"] == list(expected.interval)
    assert (result["deals"], result["rotations"], result["games"]) == (6, 2, 12)
    assert result["interrupted"] is False
    assert {"win_rate", "draw_rate", "seconds", "games_per_second"} <= set(result)
    assert f"{expected.mean:.1f} +- {expected.standard_error:.1f}" in capsys.readouterr().out


def test_evaluate_keeps_records_and_uses_the_seed_for_deals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["player=greed", "opponent=random", "set=seed", "seed=4", "records=games.jsonl.gz"]
    assert evaluate.main([*arguments, "output=m.json", *SMALL]) == 0
    assert len(records.replay_records(records.read("games.jsonl.gz"))) == 12
    # Hydra leaves nothing behind.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.jsonl.gz", "m.json"]


def test_interrupted_evaluate_keeps_the_finished_deals(tmp_path, monkeypatch, capsys):
    def play_and_interrupt(*args, on_progress, **options):
        def stop(done, total):
            on_progress(done, total)
            raise KeyboardInterrupt

        return play_match(*args, on_progress=stop, **options)

    monkeypatch.setattr(evaluate, "play_match", play_and_interrupt)
    out = tmp_path / "match.json"
    code = evaluate.main(
        ["player=greed", "opponent=random", f"output={out}", "deals=70", "batch=64"]
    )
    assert code == 130
    assert read(out)["result"]["interrupted"] is True
    assert read(out)["result"]["deals"] == 64
    assert "interrupted" in capsys.readouterr().err


@pytest.fixture
def parts(tmp_path, monkeypatch) -> Path:
    """Where finished matches are kept."""
    monkeypatch.setattr(comparison, "PARTS", tmp_path / "parts")
    return tmp_path / "parts"


def test_round_robin(tmp_path, parts, capsys):
    out = tmp_path / "robin.json"
    assert round_robin.main(["players=[random,if,greed]", f"output={out}", *SMALL]) == 0
    result = read(out)["result"]
    assert result["players"] == ["random", "if", "greed"]
    assert result["matrix"][0][1] == -result["matrix"][1][0]
    assert 0 <= result["epsilon"] <= 1
    assert result["epsilon_sd"] > 0
    assert result["deals"] == 6
    assert "epsilon" in capsys.readouterr().out
    assert len(list(parts.iterdir())) == 3
    expected = play_match(high_player, mixed_player, standard_deals("development", 6), batch=64)
    assert result["matrix"][1][2] == pytest.approx(expected.mean)


def test_interrupted_round_robin_goes_on(tmp_path, parts, monkeypatch, capsys):
    calls = []

    def play(*args, **options):
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return play_match(*args, **options)

    monkeypatch.setattr(comparison, "play_match", play)
    out = tmp_path / "robin.json"
    arguments = ["players=[random,if,greed]", f"output={out}", *SMALL]
    assert round_robin.main(arguments) == 130
    assert "2 of 3 matches" in capsys.readouterr().err
    assert not out.exists()
    assert round_robin.main(arguments) == 0
    assert len(calls) == 4


def test_classical_and_its_table(tmp_path):
    out = tmp_path / "classical.json"
    assert classical.main([f"output={out}", *SMALL]) == 0
    result = read(out)["result"]
    assert set(result["matches"]) == set(report_tables.PUBLISHED_MATCHES)
    seats = {(name, seat) for name, table in result["tables"].items() for seat in table["points"]}
    assert seats == set(report_tables.PUBLISHED_SEATS)
    page = report_tables.regenerate(
        "a <!-- begin classical --> old <!-- end classical --> b", tmp_path
    )
    assert page.startswith("a <!-- begin classical -->\n| points |")
    assert page.endswith("\n<!-- end classical --> b")
    assert f"{result['matches']['greed-if']['mean']:.1f} ± " in page
    assert report_tables.NOT_RUN not in page
    assert report_tables.regenerate(page, tmp_path) == page


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["plaier=greed"], "unknown setting 'plaier'; there are set, deals"),
        (["+extra=1"], "unknown setting 'extra'"),
        (["deals=many"], "deals: Value 'many' of type 'str' could not be converted to Integer"),
        (["deals=0"], "number of deals must be at least 1"),
        (["batch=0"], "batch must be at least 1"),
        (["rotations=3"], "rotations must be 2 or 4"),
        (["seed=-1"], "seed must be from 0"),
        (["set=training"], "set must be one of development, final, seed"),
        (["player=nobody"], "nobody"),
        (["opponent=random", "opponent_options.samples=3"], "samples"),
        (["player=[greed"], "greed"),
        (["deals"], "deals"),
        (["output=match.txt"], "output must end in .json"),
        (["output=no/such/folder/match.json"], "no folder"),
    ],
)
def test_bad_settings_give_one_line_and_exit_code_2(arguments, reason, capsys):
    assert evaluate.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.strip().splitlines()
    assert line.startswith("error: ")
    assert reason in line


def test_loggers_stay_as_they_are(monkeypatch):
    handler = logging.StreamHandler()
    monkeypatch.setattr(handler, "close", lambda: pytest.fail("closed"))
    level = logging.getLogger().level
    assert evaluate.main(["deals=0"]) == 2
    assert logging.getLogger().level == level
    assert not logging.getLogger("jax").disabled


def test_bad_round_robin(capsys):
    assert round_robin.main(["players=[if,if]"]) == 2
    assert round_robin.main(["players=[if,random]", "options.greed.samples=3"]) == 2
    assert "named twice" in capsys.readouterr().err


def test_the_page_of_results_agrees_with_the_results():
    pages = [page.read_text() for page in report_tables.PAGES]
    assert set(report_tables.SECTIONS) <= set(" ".join(pages).split())
    for page in pages:
        assert report_tables.regenerate(page) == page
