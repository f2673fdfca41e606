"""The examples of docs/extending.md are complete: their code runs, and so do their tests."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gongzhu_jax import players  # noqa: F401, which registers everything
from gongzhu_jax.inference.registry import RULES
from gongzhu_jax.network.policy_value import NETWORKS
from gongzhu_jax.players.registry import PLAYERS

PAGE = Path(__file__).parent.parent / "docs" / "extending.md"
NAMES = ["test_kept_pig", "test_lowest", "test_shallow", "test_pig_share"]


@pytest.fixture(scope="module")
def page() -> Iterator[dict[str, Any]]:
    """The names that the page defines; what it registers is taken back."""
    registries: list[dict[str, Any]] = [RULES, NETWORKS, PLAYERS]
    before = [dict(registry) for registry in registries]
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {"__name__": "extending"}
    exec(compile("\n".join(blocks), str(PAGE), "exec"), names)
    yield names
    for registry, old in zip(registries, before, strict=True):
        assert len(registry) <= len(old) + 1
        registry.clear()
        registry.update(old)


def test_all_tests_of_the_page_are_run(page: dict[str, Any]) -> None:
    assert [name for name in page if name.startswith("test_")] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_example(page: dict[str, Any], name: str) -> None:
    page[name]()
