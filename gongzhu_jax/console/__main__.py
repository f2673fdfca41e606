"""`gongzhu COMMAND ...`, also as `python -m gongzhu_jax.console COMMAND ...`.

Exit codes: 0 all right; 2 input that cannot be used, one line on stderr says why; 130 interrupted.
"""

import importlib
import sys
from collections.abc import Callable, Sequence

from gongzhu_jax import runtime
from gongzhu_jax.console import experiments
from gongzhu_jax.errors import GongzhuError
from gongzhu_jax.version import __version__

COMMANDS = {
    # name: module with `main(arguments) -> exit code`, what it does
    "play": ("gongzhu_jax.console.play", "a game in the terminal against our players"),
    "move": ("gongzhu_jax.console.move", "the card that a player would play in a position"),
    "analyse": ("gongzhu_jax.console.analyse", "what a player thinks of a position"),
    "players": ("gongzhu_jax.console.options", "all players, and what their options mean"),
    "arena": ("gongzhu_jax.arena.__main__", "tables for people and programs, in the browser"),
    "records": ("gongzhu_jax.records", "replays game records and says what is wrong in them"),
}
"""Commands that need no extra; those of `experiments` come on top."""


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage())
        return 0 if words else 2
    if words[0] == "--version":
        print(f"gongzhu_jax {__version__}")
        return 0
    name, *rest = words
    try:
        return find_command(name)(rest)
    except GongzhuError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def find_command(name: str) -> Callable[[Sequence[str]], int]:
    """The function behind a command; `GongzhuError` if there is none, or if an extra is missing."""
    runtime.use_compilation_cache()
    if name in COMMANDS:
        return importlib.import_module(COMMANDS[name][0]).main
    return experiments.find_command(name, tuple(COMMANDS))


def usage() -> str:
    lines = ["usage: gongzhu COMMAND ...", ""]
    lines += [f"  {name:<22}{what}" for name, (_, what) in COMMANDS.items()]
    lines += ["", f"experiments, with pip install '{experiments.EXTRA}':", ""]
    lines += [
        f"  {name:<22}{what}" for name, what in experiments.summaries(tuple(COMMANDS)).items()
    ]
    return "\n".join([*lines, "", "`gongzhu COMMAND --help` says more."])


if __name__ == "__main__":
    sys.exit(main())
