"""What every key of a command means: from the comments in configs/ and at the fields of settings,
which are their one home. `--help` and docs/options.md are made of it."""

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from omegaconf import DictConfig, OmegaConf

from gongzhu_jax.console.options import Option, field_comments

CONFIGS = Path(__file__).parents[2] / "configs"
INDENT = " " * 6
_KEY = re.compile(r"^(?P<indent> *)(?P<key>[\w@-]+):(?P<rest>.*)$")


def command_options(name: str, settings: type, config: DictConfig) -> list[Option]:
    """All keys of a command, with the values of `config`, those that it has by default."""
    comments = dict(_typed_comments(settings)) | dict(_config_comments(CONFIGS / f"{name}.yaml"))
    return list(_options(OmegaConf.to_container(config), comments, ""))


def _options(tree: Any, comments: Mapping[str, str], prefix: str) -> Iterator[Option]:
    for key, value in tree.items():
        name = f"{prefix}{key}"
        inside = list(_options(value, comments, f"{name}.")) if isinstance(value, Mapping) else []
        # Keys that mean nothing by themselves, such as names of players, are those of their parent.
        if inside and (all(option.meaning for option in inside) or not comments.get(name)):
            yield from inside
        else:
            yield Option(name, value, comments.get(name, ""))


def help_text(options: list[Option]) -> str:
    """The keys for a terminal."""
    lines = ["Settings, as key=value:"]
    for option in options:
        lines.append(f"  {option.name}={show(option.default)}")
        lines += textwrap.wrap(option.meaning, 94, initial_indent=INDENT, subsequent_indent=INDENT)
    return "\n".join(lines)


def show(value: Any) -> str:
    """A value as it is written on a command line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).replace("'", "")


def _typed_comments(settings: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Comments at the fields of nested dataclasses, by dotted name."""
    written = field_comments(settings)
    types = get_type_hints(settings)
    for field in fields(settings):
        yield prefix + field.name, written.get(field.name, "")
        if is_dataclass(types[field.name]):
            yield from _typed_comments(types[field.name], f"{prefix}{field.name}.")


def _config_comments(path: Path) -> Iterator[tuple[str, str]]:
    """Comments at the keys of a file and of the groups that it has by default."""
    text = path.read_text()
    content: Any = OmegaConf.create(text)
    for entry in content.get("defaults", []):
        if isinstance(entry, DictConfig):
            for group, choice in entry.items():
                yield from _config_comments(CONFIGS / str(group).lstrip("/") / f"{choice}.yaml")
    lines = text.splitlines()
    parents: list[tuple[int, str]] = []  # indentation and name of the keys that we are in
    above: list[str] = []
    first = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
    for line in lines[first:]:  # what is above the first key is about the file
        if line.lstrip().startswith("#"):
            above.append(line.strip().lstrip("# "))
        elif match := _KEY.match(line):
            indent = len(match["indent"])
            parents = [parent for parent in parents if parent[0] < indent]
            parents.append((indent, match["key"]))
            if meaning := match["rest"].partition(" #")[2].strip() or " ".join(above):
                yield ".".join(parent for _, parent in parents), meaning
            above = []
        else:
            above = []
