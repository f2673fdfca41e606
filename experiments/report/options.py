"""Writes docs/options.md: every key of every command and every option of every player.

    python -m experiments.report.options

From the same comments as `--help`.
"""

import importlib
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

This page lists every option of every player and every key of every command. `gongzhu players NAME`
and `gongzhu COMMAND --help` print the same. Set a key on the command line with `key=value`; a
key that is not set has the value shown here. The page is made by `python -m
experiments.report.options` from the comments in `configs/` and in the classes of settings.
"""


def page() -> str:
    parts = [HEAD, "## Players\n"]
    parts.append(
        "Set them with `player_options.NAME=VALUE` for `gongzhu evaluate`, and with "
        "`-o NAME=VALUE` for `gongzhu move`.\n"
    )
    for name in PLAYERS:
        if options := player_options(name):
            parts += [f"### {name}\n", _table(options)]
    parts.append("## Commands\n")
    for name, title in command_titles().items():
        parts += [f"### {name.replace('/', ' ')}\n", f"{title}.\n"]
        parts.append(_table(command_options(name, SETTINGS[name], compose(name, []))))
    return "\n".join(parts)


def command_titles() -> dict[str, str]:
    """All commands with settings, which are imported, and what each does."""
    titles = {}
    for path in sorted(CONFIGS.glob("*.yaml")) + sorted((CONFIGS / "paper").glob("*.yaml")):
        name = str(path.relative_to(CONFIGS).with_suffix(""))
        module = importlib.import_module(f"experiments.{name.replace('/', '.')}")
        titles[name] = (module.__doc__ or "").splitlines()[0].split(": `")[0].rstrip(".")
    return titles


def _table(options: list[Option]) -> str:
    rows = ["| key | value | meaning |", "|---|---|---|"]
    for option in options:
        meaning = option.meaning.replace("|", "\\|")
        rows.append(f"| `{option.name}` | `{show(option.default)}` | {meaning} |")
    return "\n".join(rows) + "\n"


def main(path: Path = PAGE) -> int:
    write_whole(path, page().encode())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
