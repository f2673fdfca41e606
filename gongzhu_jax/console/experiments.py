"""The experiments as commands: `gongzhu train` is `python -m experiments.train` of a checkout.

A wheel has `experiments` and `configs` inside this package, not at the top level of everybody's
environment; what they import from each other they find because their folder is put on the path.
"""

import ast
import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from gongzhu_jax.errors import ConfigError, MissingExtraError

EXTRA = "gongzhu_jax[experiments]"
NEEDED = ("hydra", "rich", "matplotlib", "tensorboardX")
"""What the extra brings."""
WITHOUT_EXTRA = ("doctor",)


@functools.cache
def folder() -> Path:
    """The folder that has `experiments` and `configs`: the checkout, or where a wheel put them."""
    checkout = Path(__file__).parents[2]
    shipped = Path(__file__).parents[1] / "shipped"
    return checkout if (checkout / "experiments").is_dir() else shipped


@functools.cache
def summaries(but: tuple[str, ...] = ()) -> dict[str, str]:
    """Names of the experiments, without those in `but`, and the first sentence of each. They are
    read without importing them, since the extra may be missing."""
    titles = {}
    for path in sorted((folder() / "experiments").glob("*.py")):
        tree = ast.parse(path.read_text())
        assigned = [node.targets for node in tree.body if isinstance(node, ast.Assign)]
        names = {name.id for targets in assigned for name in targets if isinstance(name, ast.Name)}
        names |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        said = ast.get_docstring(tree)
        if "main" in names and said and path.stem not in but:
            titles[path.stem] = said.splitlines()[0].split("`")[0].rstrip(" .:?")
    return titles


def find_command(name: str, others: tuple[str, ...]) -> Callable[[Sequence[str]], int]:
    """The `main` of an experiment; `others` are the commands that are none.

    Raises:
      ConfigError: there is no such command.
      MissingExtraError: it needs packages that are not installed.
    """
    name = name.replace("-", "_")
    if name not in summaries():
        known = ", ".join([*others, *summaries(others)])
        raise ConfigError(f"unknown command {name!r}; there are {known}")
    missing = [package for package in NEEDED if importlib.util.find_spec(package) is None]
    if missing and name not in WITHOUT_EXTRA:
        raise MissingExtraError(f"{name} needs {missing[0]}: pip install '{EXTRA}'")
    here = str(folder())
    if here not in sys.path:
        sys.path.insert(0, here)
        # For processes that launchers start.
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join([here, *([before] if before else [])])
    return importlib.import_module(f"experiments.{name}").main
