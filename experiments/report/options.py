"""Writes docs/options.md: every key of every command and every option of every player.

    python -m experiments.report.options

From the same comments as `--help`.
"""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

from experiments.common.cli import SETTINGS, compose
from experiments.common.explain import CONFIGS, command_options, show
from experiments.common.provenance import ROOT
from gongzhu_jax.console.options import Option, player_options
from gongzhu_jax.files import write_whole
from gongzhu_jax.players.registry import PLAYERS

PAGE = ROOT / "docs" / "options.md"
HEAD = """\
# Options

Made by `python -m experiments.report.options` from the comments in `configs/` and at the fields of
settings; `gongzhu COMMAND --help` and `gongzhu players NAME` say the same. A key is set on the
command line, `key=value`; what is not set has the value that is shown here.
"""


def page() -> str:
    return "\n".join([HEAD, *_players(), *_commands()])


def _commands() -> Iterator[str]:
    yield "## Commands\n"
    paths = sorted(CONFIGS.glob("*.yaml")) + sorted((CONFIGS / "paper").glob("*.yaml"))
    for path in paths:
        name = str(path.relative_to(CONFIGS).with_suffix(""))
        module = importlib.import_module(f"experiments.{name.replace('/', '.')}")
        yield f"### {name.replace('/', ' ')}\n"
        yield f"{(module.__doc__ or '').splitlines()[0].split(': `')[0].rstrip('.')}.\n"
        yield _table(command_options(name, SETTINGS[name], compose(name, [])))


def _players() -> Iterator[str]:
    yield "## Players\n"
    yield "For `gongzhu evaluate` as `player_options.NAME=VALUE`, for `move` as `-o NAME=VALUE`.\n"
    for name in PLAYERS:
        options = player_options(name)
        if options:
            yield f"### {name}\n"
            yield _table(options)


def _table(options: list[Option]) -> str:
    rows = ["| key | value | |", "|---|---|---|"]
    for option in options:
        meaning = option.meaning.replace("|", "\\|")
        rows.append(f"| `{option.name}` | `{show(option.default)}` | {meaning} |")
    return "\n".join(rows) + "\n"


def main(path: Path = PAGE) -> int:
    write_whole(path, page().encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
