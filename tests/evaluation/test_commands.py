"""The commands about matches, in process and small: what they write, print and refuse."""

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
from dataclasses import MISSING, fields, replace
from pathlib import Path

import jax
import numpy as np
import pytest

from experiments import compare, evaluate, round_robin, train
from experiments.common import cli, provenance, results
from experiments.common.cli import CONFIGS, load_settings
from experiments.report import options
from gongzhu_jax import records
from gongzhu_jax.evaluation import match_records, play_match, recorder
from gongzhu_jax.evaluation.deal_sets import choose_deals
from tests.evaluation.simple_players import counting, high_player, mixed_player, random_player
from tests.experiments.conftest import places, simple_players  # noqa: F401

pytestmark = pytest.mark.usefixtures("simple_players", "places")
SMALL = ("deals=6", "batch=8")


def read(path: Path) -> dict:
    return json.loads(path.read_text())


def margins_of(player, opponent, count: int = 6) -> np.ndarray:
    deals = choose_deals("development-1", count).deals
    return play_match(player, opponent, deals, batch=8).margins


def test_evaluate(tmp_path: Path, capsys) -> None:
    assert evaluate.main(["player=scrofa", "opponent=random", *SMALL]) == 0
    kept = read(tmp_path / "runs" / "match-scrofa-random.json")
    assert kept["command"].startswith("python -m experiments.evaluate player=scrofa")
    assert kept["config"]["set"] == "development-1"
    assert {"commit", "clean", "source", "date", "machine", "seconds"} <= kept.keys()
    row = kept["result"]["rows"]["scrofa over random"]
    margins = margins_of(mixed_player, random_player)
    assert row["mean"] == margins.mean()
    assert row["standard_error"] == pytest.approx(margins.std(ddof=1) / np.sqrt(6))
    assert (row["deals"], row["rotations"]) == (6, 2)
    record = match_records.read_record(tmp_path / "runs" / "records" / f"{row['match']}-6.json")
    np.testing.assert_array_equal(record.margins, margins)
    assert len(record.identity["players"][0]["params"]) == 64  # a digest of the weights
    assert f"{margins.mean():.1f} ± " in capsys.readouterr().out
    assert not any((tmp_path / "results").iterdir())


def test_evaluate_keeps_games(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["player=scrofa", "opponent=random", "set=seed", "seed=4", "records=g.jsonl.gz"]
    before = set(tmp_path.iterdir())
    assert evaluate.main([*arguments, "output=m.json", *SMALL]) == 0
    assert len(records.replay_records(records.read("g.jsonl.gz"))) == 12
    assert {path.name for path in set(tmp_path.iterdir()) - before} == {"g.jsonl.gz", "m.json"}
    # The games can be played again as a set of deals.
    again = ["player=scrofa", "opponent=random", "set=g.jsonl.gz", "seed=4", "output=n.json"]
    assert evaluate.main([*again, *SMALL]) == 0
    (first,), (second,) = (read(Path(n))["result"]["rows"].values() for n in ("m.json", "n.json"))
    assert second["mean"] == first["mean"]


COMPARED = [
    "matches={a:[scrofa,greed],b:[if,greed],c:[scrofa@x,if]}",
    "players={scrofa@x:{weights:{beta:1}}}",
    "differences=[[b,a]]",
    "deals_of={b:4}",
    "name=three",
    *SMALL,
]


def test_compare(tmp_path: Path, capsys) -> None:
    assert compare.main(COMPARED) == 0
    result = read(tmp_path / "runs" / "three.json")["result"]
    expected = {
        "a": margins_of(mixed_player, random_player),
        "b": margins_of(high_player, random_player, 4),
        "c": margins_of(high_player, high_player),
    }
    assert {name: row["mean"] for name, row in result["rows"].items()} == {
        name: margins.mean() for name, margins in expected.items()
    }
    (difference,) = result["differences"].values()
    change = expected["b"] - expected["a"][:4]
    assert difference["mean"] == change.mean()
    assert difference["standard_error"] == pytest.approx(change.std(ddof=1) / 2)
    assert "paired by deal" in capsys.readouterr().out


def test_no_row_gets_more_deals_than_all(tmp_path: Path, capsys) -> None:
    assert compare.main([*COMPARED, "deals_of={b:9}"]) == 0
    assert "b: 6 deals as all rows get, and not its 9" in capsys.readouterr().err
    rows = read(tmp_path / "runs" / "three.json")["result"]["rows"]
    assert {row["deals"] for row in rows.values()} == {6}
    assert compare.main([*COMPARED, "deals_of={b:0}"]) == 2
    assert "deals_of has less" in capsys.readouterr().err


def test_ctrl_c_says_what_is_finished(tmp_path: Path, monkeypatch, capsys) -> None:
    played = []
    play = recorder.Recorder.play

    def stop_in_second(self, name, *args, **options):
        if name == "b" and not played:
            played.append(name)
            raise KeyboardInterrupt
        return play(self, name, *args, **options)

    monkeypatch.setattr(recorder.Recorder, "play", stop_in_second)
    assert compare.main(COMPARED) == cli.INTERRUPTED
    assert "1 of 3 matches are finished and kept; the same command" in capsys.readouterr().err
    assert len(list((tmp_path / "runs" / "records").iterdir())) == 1
    assert compare.main(COMPARED) == 0
    said = capsys.readouterr().err
    assert "a: 6 of 6 deals are on record" in said


def test_ctrl_c_is_not_swallowed(tmp_path: Path, monkeypatch, capsys) -> None:
    """The signal comes when a batch is finished, and the seating keeps it and says nothing."""
    seat = recorder.match_seating

    def swallowing(*args, **options):
        seating = seat(*args, **options)

        class Swallows:
            compile = seating.compile

            def play(self, deals):
                result = seating.play(deals)
                with contextlib.suppress(KeyboardInterrupt):
                    signal.raise_signal(signal.SIGINT)
                return result

        return Swallows()

    monkeypatch.setattr(recorder, "match_seating", swallowing)
    assert compare.main(COMPARED) == cli.INTERRUPTED
    assert "1 of 3 matches are finished and kept" in capsys.readouterr().err
    assert not (tmp_path / "runs" / "three.json").exists()


def test_round_robin(tmp_path: Path, capsys) -> None:
    assert round_robin.main(["players=[random,scrofa,if]", *SMALL]) == 0
    result = read(tmp_path / "runs" / "round_robin.json")["result"]
    margins = {
        ("scrofa", "random"): margins_of(mixed_player, random_player),
        ("if", "random"): margins_of(high_player, random_player),
        ("if", "scrofa"): margins_of(high_player, mixed_player),
    }
    for (first, second), expected in margins.items():
        assert result["rows"][f"{first} over {second}"]["mean"] == expected.mean()
    # The paper's epsilon of three players, by its own formula.
    ij = margins["scrofa", "random"].mean()
    jk = margins["if", "scrofa"].mean()
    ik = margins["if", "random"].mean()
    epsilon = abs(ij + jk - ik) / (abs(ij) + abs(jk) + abs(ik))
    assert result["epsilon"] == pytest.approx(epsilon)
    assert result["epsilon_sd"] > 0
    assert "epsilon" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["plaier=greed"], "unknown setting 'plaier'; there are seed, output"),
        (["+extra=1"], "unknown setting 'extra'"),
        (["deals=many"], "deals: Value 'many' of type 'str' could not be converted to Integer"),
        (["deals=0"], "number of deals must be at least 1"),
        (["batch=0"], "batch must be a whole number from 1 on"),
        (["rotations=3"], "rotations must be 2 or 4"),
        (["seed=-1"], "seed must be from 0"),
        (
            ["set=final"],
            "set must be one of development-1, development-2, published-1, published-2, seed",
        ),
        (["player=[greed"], "greed"),
        (["deals"], "deals"),
        (["player_options.beta=nan"], "player_options.beta must be a number, not nan"),
        (["output=match.txt"], "output must end in .json"),
        (["output=no/such/folder/match.json"], "no folder"),
        (["output=/proc/match.json"], "cannot write to"),
        (["--frob"], "unknown flag --frob"),
        (["publish=true"], "publish=true needs published deals"),
        (["publish=true", "set=published-1"], "committed settings only: put set=published-1"),
    ],
)
def test_bad_settings_give_one_line_and_exit_code_2(arguments, reason, capsys) -> None:
    assert evaluate.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.strip().splitlines()
    assert line.startswith("error: ")
    assert reason in line


def test_unknown_settings_are_explained_at_their_level(capsys) -> None:
    assert train.main(["preset=smoke", "search.nothing=1"]) == 2
    said = capsys.readouterr().err
    assert "unknown setting 'search.nothing'; there are base, per_legal" in said
    assert "directory" not in said


def test_flags(capsys) -> None:
    for flags in (["--cfg", "job"], ["--cfg=job"]):
        assert evaluate.main(["deals=7", *flags]) == 0
        assert "deals: 7" in capsys.readouterr().out
    assert evaluate.main(["--help"]) == 0
    assert "One player against another" in capsys.readouterr().out


def test_a_preset_is_not_undone() -> None:
    assert load_settings("train", train.TrainSettings, ["preset=smoke"]).evaluate_deals == 4
    assert load_settings("train", train.TrainSettings).evaluate_deals == 1024


def test_a_composed_config_is_not_shared() -> None:
    """Hydra is asked once for the same words."""
    first = cli.compose("evaluate", ["deals=7"])
    first.merge_with({"deals": 8})
    assert cli.compose("evaluate", ["deals=7"]).deals == 7


def test_a_training_cannot_go_to_a_file(tmp_path: Path, capsys) -> None:
    file = tmp_path / "README.md"
    file.write_text("a file")
    assert train.main(["preset=smoke", f"directory={file}"]) == 2
    assert "is not a folder" in capsys.readouterr().err


def test_too_little_memory_is_one_line(monkeypatch, capsys) -> None:
    def fail(*args, **options):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes")

    monkeypatch.setattr(evaluate, "play_all", fail)
    assert evaluate.main(["deals=2"]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "need more memory" in line


def test_loggers_stay_as_they_are() -> None:
    level = logging.getLogger().level
    assert evaluate.main(["deals=0"]) == 2
    assert logging.getLogger().level == level
    assert not logging.getLogger("jax").disabled


def test_few_deals_get_a_small_batch() -> None:
    settings = load_settings("evaluate", evaluate.EvaluateSettings, ["deals=4"])
    assert settings.seating_options()["batch"] == 4
    assert settings.seating_options(1000)["batch"] == 256
    act, traces = counting(high_player.act_batch)
    play_match(replace(high_player, act_batch=act), random_player, 4)
    assert max(traces) < 16  # 4 deals in 2 rotations, on all devices


def publish(words: list[str]) -> int:
    return compare.main(["rows=inputs", "play=published", "publish=true", *words])


@pytest.fixture
def committed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of configs with a group of small published deals, as if it were committed."""
    folder = tmp_path / "configs"
    folder.mkdir()
    for path in CONFIGS.iterdir():
        if path.name != "play":
            (folder / path.name).symlink_to(path)
    (folder / "play").mkdir()
    usual = (CONFIGS / "play" / "usual.yaml").read_text()
    (folder / "play" / "usual.yaml").write_text(usual)
    small = usual.replace("development-1", "published-1")
    (folder / "play" / "published.yaml").write_text(small)
    compare_yaml = (CONFIGS / "compare.yaml").read_text().replace("deals: 1024", "deals: 4")
    (folder / "compare.yaml").unlink()
    (folder / "compare.yaml").write_text(compare_yaml)
    monkeypatch.setattr(cli, "CONFIGS", folder)
    return tmp_path


def test_publishing(committed: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(results, "is_clean", lambda: False)
    monkeypatch.setattr(provenance, "is_clean", lambda: False)
    assert publish([]) == 2
    assert "needs a tree without changes" in capsys.readouterr().err
    assert publish(["deals=2"]) == 2
    assert "committed settings only" in capsys.readouterr().err
    assert not any((committed / "results").iterdir())
    assert publish(["allow_changes=true"]) == 0  # the page then says so
    view = read(committed / "results" / "inputs.json")
    assert view["clean"] is False
    assert "with changes" in capsys.readouterr().out
    monkeypatch.setattr(results, "is_clean", lambda: True)
    monkeypatch.setattr(provenance, "is_clean", lambda: True)
    assert publish([]) == 0  # records of a tree with changes are not taken
    rows = read(committed / "results" / "inputs.json")["result"]["rows"]
    assert all(row["clean"] and row["set"] == "published-1" for row in rows.values())
    assert [path.name for path in (committed / "runs").iterdir()] == ["fingerprints.json"]
    # A trial leaves what is published alone.
    before = (committed / "results" / "inputs.json").read_bytes()
    assert compare.main(["rows=inputs", "deals=2"]) == 0
    assert (committed / "results" / "inputs.json").read_bytes() == before


def test_settings_have_one_home() -> None:
    """No settings class has defaults of its own, so that they cannot disagree with configs/."""
    for name in options.command_titles():
        for field in fields(cli.SETTINGS[name]):
            assert field.default is MISSING, f"{field.name} of {name}"
    repeated = [
        path
        for path in CONFIGS.rglob("*.yaml")
        if path.parent.name != "play" and "rotations:" in path.read_text()
    ]
    assert repeated == []


@pytest.mark.slow
def test_ctrl_c_of_a_process(tmp_path: Path) -> None:
    """A signal at any time ends the command with what is finished."""
    line = [sys.executable, "-m", "experiments.evaluate", "player=if", "opponent=random"]
    line += ["deals=400000", f"output={tmp_path}/m.json", "batch=64", "set=seed", "seed=77"]
    process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True, cwd=provenance.ROOT)
    seen = provenance.ROOT / "runs" / "records"
    before = set(seen.glob("*.json"))
    while set(seen.glob("*.json")) <= before:
        assert process.poll() is None
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == cli.INTERRUPTED
    assert "the same command goes on" in said
    for path in set(seen.glob("*.json")) - before:
        path.unlink()
