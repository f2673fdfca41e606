"""Rounds of improvement and exploiters: who is trained from what, without any training."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments import compare, exploit, improve
from experiments.common.cli import changed_settings, load_settings
from experiments.common.results import Workplace
from experiments.train_distilled import TrainDistilledSettings
from experiments.train_opponent_model import TrainOpponentModelSettings
from gongzhu_jax.errors import ConfigError, PlayerError
from gongzhu_jax.network.weights import POLICY_VALUE, SUFFIX


@pytest.fixture
def settings(tmp_path: Path) -> improve.ImproveSettings:
    arguments = [f"directory={tmp_path}/loop", "rounds=2", "deals=4"]
    return load_settings("improve", improve.ImproveSettings, arguments)


def test_every_stage_uses_the_newest_weights(settings: improve.ImproveSettings) -> None:
    first = improve.settings_of(settings, 1, "critic")
    assert first.start == str(POLICY_VALUE.named["critic"])
    folder = Path(settings.directory)
    assert first.directory == str(folder / "round-1" / "critic")

    then = improve.settings_of(settings, 2, "critic")
    belief = str(folder / "round-1" / f"belief{SUFFIX}")
    assert then.start == str(folder / "round-1" / f"critic{SUFFIX}")
    assert then.options["scrofa-strong@self"]["belief"] == belief
    # What the command itself says of the player stays.
    assert then.options["scrofa-strong@self"]["scenarios"] == {"draws": 8, "candidates": 0}

    distilled = improve.settings_of(settings, 2, "distilled")
    teacher = distilled.options["scrofa-strong@eight"]
    assert teacher["checkpoint"] == str(folder / "round-2" / f"critic{SUFFIX}")
    assert teacher["belief"] == belief
    assert isinstance(distilled, TrainDistilledSettings)
    assert (distilled.critic, distilled.belief) == (teacher["checkpoint"], belief)

    model = improve.settings_of(settings, 2, "opponent_model")
    student = str(folder / "round-2" / f"distilled{SUFFIX}")
    assert model.options["distilled"]["checkpoint"] == student
    assert model.player_types["distilled"] > 0
    assert isinstance(model, TrainOpponentModelSettings)
    model.config()  # refuses a network of another number of player types


def test_the_player_of_a_round_has_its_networks(settings: improve.ImproveSettings) -> None:
    folder = Path(settings.directory) / "round-2"
    assert improve.networks(settings, 2) == {
        "checkpoint": str(folder / f"critic{SUFFIX}"),
        "belief": str(folder / f"belief{SUFFIX}"),
        "opponent_model": str(folder / f"opponent_model{SUFFIX}"),
    }
    assert improve.networks(settings, 0)["checkpoint"] == str(POLICY_VALUE.named["critic"])


def test_finished_stages_are_not_trained_again(
    settings: improve.ImproveSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[str] = []

    def train(chosen, line: str) -> None:
        trained.append(str(Path(chosen.directory).relative_to(settings.directory)))
        (Path(chosen.directory) / "last" / str(chosen.training["epochs"])).mkdir(parents=True)

    stages = {name: replace(stage, train=train) for name, stage in improve.STAGES.items()}
    monkeypatch.setattr(improve, "STAGES", stages)
    monkeypatch.setattr(improve, "export", lambda _, others, kind, output, *__: output.touch())
    monkeypatch.setattr(improve, "play_round", lambda *_: {"rows": {}, "differences": {}})
    done = improve.file_of(settings, 1, "distilled")
    done.parent.mkdir(parents=True)
    done.touch()
    improve.run(settings, Workplace("improve"))
    order = [f"round-{number}/{name}" for number in (1, 2) for name in settings.stages]
    assert trained == [stage for stage in order if stage != "round-1/distilled"]


def test_wrong_stages_are_refused(tmp_path: Path) -> None:
    common = [f"directory={tmp_path}/loop"]
    with pytest.raises(ConfigError, match="unknown stage 'critics'; there are critic, distilled"):
        load_settings("improve", improve.ImproveSettings, [*common, "stages={critics:{}}"])
    wrong = load_settings(
        "improve", improve.ImproveSettings, [*common, "stages.belief.start='{beliefs}'"]
    )
    with pytest.raises(ConfigError, match=r"there are no weights \{beliefs\}; there are critic"):
        improve.settings_of(wrong, 1, "belief")
    wrong = load_settings("improve", improve.ImproveSettings, [*common, "+stages.belief.begin=1"])
    with pytest.raises(ConfigError, match=r"stages\.belief: "):
        improve.settings_of(wrong, 1, "belief")


def exploiting(*words: str) -> exploit.ExploitSettings:
    return load_settings("exploit", exploit.ExploitSettings, list(words))


def test_an_exploiter_that_learns_values_meets_its_target_alone(tmp_path: Path) -> None:
    settings = exploiting(f"directory={tmp_path}/x", "targets=[greed]", "learns=critic")
    chosen = exploit.critic_training(settings, "greed")
    assert chosen.player_types == {"scrofa-strong@self": 1.0, "greed": 1.0}
    assert chosen.start == str(POLICY_VALUE.named["critic"])
    assert chosen.training["seating"] == "versus"
    assert chosen.training["epochs"] == settings.critic["training"]["epochs"]
    assert chosen.options["scrofa-strong@self"] == settings.players["critic"]


def test_an_exploiter_that_learns_how_its_target_plays_goes_on_from_known_players(
    tmp_path: Path,
) -> None:
    settings = exploiting(f"directory={tmp_path}/x", "targets=[greed,scrofa-strong@eight]")
    before = exploit.opponent_model_training(settings, exploit.BEFORE)
    assert list(before.player_types.items()) == list(settings.known.items())
    assert before.start is None
    for target in settings.targets:
        after = exploit.opponent_model_training(settings, target)
        # In this order: the types that it starts with keep their places in the model.
        assert list(after.player_types.items()) == [("distilled", 0.5), (target, 0.5)]
        assert after.options.get(target, {}) == settings.options.get(target, {})
        assert after.start == str(settings.weights(exploit.BEFORE))
        assert after.network.player_types == before.network.player_types == 2
        assert after.directory != before.directory


@pytest.mark.parametrize("learns", ["critic", "opponent_model"])
def test_an_exploiter_meets_its_target_before_and_after(
    learns: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = exploiting(f"directory={tmp_path}/x", "targets=[greed,if]", f"learns={learns}")
    trained: list[str] = []
    played: dict[str, Any] = {}

    def train(stage: improve.Stage, chosen: Any, output: Path, line: str) -> None:
        assert stage is improve.STAGES[learns]
        trained.append(output.name)

    def play(name: str, chosen: Any, *_: Any) -> dict[str, Any]:
        changed_settings("compare", {"name": name, **chosen})  # refuses what cannot be played
        played.update(chosen)
        return {"name": name}

    monkeypatch.setattr(exploit, "train_network", train)
    monkeypatch.setattr(compare, "run_other", play)
    assert exploit.run(settings, Workplace("exploit"))["name"] == f"exploit_{learns}"
    others, first = (["before"], []) if learns == "critic" else (["before", "general"], ["before"])
    assert trained == [f"{name}{SUFFIX}" for name in (*first, "greed", "if")]
    option = exploit.OPTIONS[learns]
    for target in settings.targets:
        row = f"exploiter against {target}"
        assert [row, f"before against {target}"] in played["differences"]
        after, met = played["matches"][row]
        assert met == target
        assert played["players"][after][option] == str(settings.weights(target))
        for what in others:
            who, met = played["matches"][f"{what} against {target}"]
            own = {k: v for k, v in played["players"][who].items() if k != option}
            assert (met, own) == (target, settings.players[learns])
            known = str(settings.weights("before")) if first and what == "before" else None
            assert played["players"][who].get(option) == known


def test_exploiters_that_cannot_be_are_refused() -> None:
    with pytest.raises(ConfigError, match="targets must name"):
        exploiting("targets=[]")
    with pytest.raises(ConfigError, match="learns"):
        exploiting("learns=belief")
    with pytest.raises(PlayerError, match="named twice"):
        exploiting("targets=[distilled]")
    with pytest.raises(ConfigError, match="players"):
        exploiting("+players.belief={}")
    with pytest.raises(ConfigError, match="known must name at least 2"):
        replace(exploiting(), known={"distilled": 1.0})
