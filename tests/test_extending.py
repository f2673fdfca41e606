"""The files of docs/extending.md are complete: written to a folder as they are, they run, and so do
their tests."""

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import experiments
from experiments.common import cli, explain
from gongzhu_jax import players  # noqa: F401, which registers everything
from gongzhu_jax.inference.registry import RULES
from gongzhu_jax.network.policy_value import NETWORKS
from gongzhu_jax.players.registry import PLAYERS

PAGE = Path(__file__).parent.parent / "docs" / "extending.md"
MODULES = ("kept_pig", "lowest", "shallow", "experiments.pig_share")
TESTS = {
    "test_kept_pig": ("test_kept_pig", "test_options"),
    "test_lowest": ("test_lowest",),
    "test_shallow": ("test_shallow",),
    "test_pig_share": ("test_pig_share", "test_command"),
}
CASES = [(module, test) for module, tests in TESTS.items() for test in tests]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The files of the page; what they register, and their modules, are taken back."""
    folder = tmp_path_factory.mktemp("extending")
    blocks = re.findall(r"```(?:python|yaml)\n(# (\S+)\n.*?)```", PAGE.read_text(), re.DOTALL)
    for text, name in blocks:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert len(blocks) == PAGE.read_text().count("```") // 2, "a block without a name"
    registries: list[dict[str, Any]] = [RULES, NETWORKS, PLAYERS]
    before = [dict(registry) for registry in registries]
    with pytest.MonkeyPatch.context() as patch:
        for place in (folder, folder / "tests" / "experiments"):
            patch.syspath_prepend(str(place))
        patch.setattr(experiments, "__path__", [*experiments.__path__, str(folder / "experiments")])
        for module in (cli, explain):
            patch.setattr(module, "CONFIGS", folder / "configs")
        yield folder
    for name in (*MODULES, *TESTS):
        sys.modules.pop(name, None)
    for registry, old in zip(registries, before, strict=True):
        assert len(registry) <= len(old) + 1
        registry.clear()
        registry.update(old)


def test_all_files_and_tests_of_the_page_are_known(folder: Path) -> None:
    names = {path.stem for path in folder.rglob("*.py")}
    assert names == {*TESTS, *(name.rpartition(".")[2] for name in MODULES)}
    for module, tests in TESTS.items():
        functions = inspect.getmembers(importlib.import_module(module), inspect.isfunction)
        assert {name for name, _ in functions if name.startswith("test_")} == set(tests)


@pytest.mark.parametrize(("module", "test"), CASES)
def test_example(folder: Path, module: str, test: str, capsys: pytest.CaptureFixture) -> None:
    function = getattr(importlib.import_module(module), test)
    function(**({"capsys": capsys} if inspect.signature(function).parameters else {}))
