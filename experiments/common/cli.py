"""What every command does around its own work: settings, devices, errors, exit codes.

    main = experiment("compare", CompareSettings, run)      # run(settings, work) -> result

    @command("train", TrainSettings)                        # where the result is not a table
    def main(settings: TrainSettings, line: str) -> None: ...

Settings come from configs/<name>.yaml and from `key=value` on the command line, and are checked
against a frozen dataclass; `--cfg job` shows them, `--help` says what a command does. Exit codes: 0
all right; 2 settings or input that cannot be used, one line on stderr says why; 130 interrupted.
"""

import functools
import math
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_type_hints

import hydra
import jax
from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException, MissingConfigException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from experiments.common import interrupts
from experiments.common.explain import CONFIGS, command_options, help_text
from experiments.common.launchers import LauncherSettings, leave_devices
from experiments.common.progress import note, print_table
from experiments.common.results import Workplace
from experiments.common.settings import KeptSettings
from experiments.report.docs import rewrite_pages
from experiments.report.sections import section_of
from gongzhu_jax import runtime
from gongzhu_jax.errors import ConfigError, GongzhuError

DONE, BAD_SETTINGS, INTERRUPTED = 0, 2, 130
MAY_PUBLISH = ("publish", "allow_changes", "batch", "chunk", "only")
"""Beside groups, all that may be said on the command line of what is published: other settings
must be in a committed file."""

SETTINGS: dict[str, Any] = {}
"""The settings of every command that has been imported, by its name."""
EXPERIMENTS: dict[str, "Experiment"] = {}
"""What the commands among them do that keep a result."""

S = TypeVar("S")
K = TypeVar("K", bound=KeptSettings)
Result = dict[str, Any]
Command = Callable[..., int]
"""Takes the arguments of the command line, by default those of this process; gives the exit code"""


def command(
    name: str, settings: type[S], rewrite: Callable[[Sequence[str]], list[str]] = list
) -> Callable[[Callable[[S, str], int | None]], Command]:
    """Makes a command of a function of (settings, command line) that may return an exit code;
    `rewrite` turns arguments that people like to write into settings."""
    SETTINGS[name] = settings
    ConfigStore.instance().store(f"{name.rpartition('/')[2]}_schema", open_config(settings))

    def decorate(run: Callable[[S, str], int | None]) -> Command:
        def work(given: list[str]) -> int | None:
            words = rewrite(given)
            flags = [word for word in words if word.startswith("-")]
            if {"--help", "-h"} & set(flags):
                print(sys.modules[run.__module__].__doc__)
                print(help_text(command_options(name, settings, compose(name, []))))
                return None
            if flags and flags[0].partition("=")[0] == "--cfg":
                kept = [word for word in words if word not in (*flags, "job")]
                print(OmegaConf.to_yaml(compose(name, kept)))
                return None
            if flags:
                raise ConfigError(f"unknown flag {flags[0]}; there are --help and --cfg job")
            config = compose(name, words)
            check_committed(words, config)
            chosen = to_settings(config, settings)
            leave_devices(getattr(chosen, "launcher", LauncherSettings()))
            choose_devices()
            if getattr(chosen, "distributed", False):
                runtime.join_hosts()
            line = ["python", "-m", f"experiments.{name.replace('/', '.')}", *given]
            return run(chosen, shlex.join(line))

        @functools.wraps(run)
        def main(arguments: Sequence[str] | None = None) -> int:
            words = list(sys.argv[1:] if arguments is None else arguments)
            return guarded(lambda: work(words), settings)

        return main

    return decorate


class Experiment(NamedTuple):
    """A function from settings and a workplace to a result, and one that draws the result."""

    run: Callable[[Any, Workplace], Result]
    draw: Callable[[Result, Path], None] | None


def experiment(
    name: str,
    settings: type[K],
    run: Callable[[K, Workplace], Result],
    draw: Callable[[Result, Path], None] | None = None,
    rewrite: Callable[[Sequence[str]], list[str]] = list,
) -> Command:
    """A command whose result is kept, drawn, and printed as the report has it.

    The result has a `name` if it is not that of the command.
    """
    EXPERIMENTS[name] = Experiment(run, draw)

    def main(chosen: K, line: str) -> None:
        work = Workplace(line, chosen.publish, chosen.allow_changes)
        work.check()
        result = run(chosen, work)
        kept_as = result.get("name", name.rpartition("/")[2])
        work.write(kept_as, result, chosen)
        if draw is not None:
            draw(result, work.pictures)
        if chosen.publish:
            rewrite_pages()
        section = section_of(kept_as, result)
        for table in section.tables:
            print_table(table.caption or section.title, table.lines)
        for remark in section.remarks:
            print(remark)

    main.__module__ = run.__module__
    return command(name, settings, rewrite)(main)


def load_settings(name: str, settings: type[S], arguments: Sequence[str] = ()) -> S:
    """The settings that a command would have with these arguments."""
    return to_settings(compose(name, arguments), settings)


def changed_settings(
    name: str, changes: Mapping[str, Any], arguments: Sequence[str] = (), where: str = ""
) -> Any:
    """The settings of a command that has been imported, with changes; `where` is the setting that
    these come from, for errors."""
    try:
        config = compose(name, arguments)
        config.merge_with(changes)
        return to_settings(config, SETTINGS[name])
    except OmegaConfBaseException as error:
        raise ConfigError(f"{where}: {str(error).splitlines()[0]}") from error


def compose(name: str, arguments: Sequence[str]) -> DictConfig:
    return deepcopy(_composed(str(CONFIGS), name, tuple(labelled(word) for word in arguments)))


def labelled(word: str) -> str:
    """`training.mixture.raw@five=0` as Hydra takes it, `training.mixture={raw@five:0}`: it would
    look for a config group where a key has an @."""
    key, equals, value = word.partition("=")
    parts = key.split(".")
    first = next((place for place, part in enumerate(parts) if "@" in part), 0)
    if not equals or first == 0:
        return word
    for part in reversed(parts[first:]):
        value = f"{{{part}:{value}}}"
    return f"{'.'.join(parts[:first])}={value}"


@functools.cache
def _composed(folder: str, name: str, arguments: tuple[str, ...]) -> DictConfig:
    """Hydra takes a tenth of a second, and the steps of `reproduce` and the trainings of an
    experiment ask for the same again and again."""
    with hydra.initialize_config_dir(folder, version_base="1.3"):
        return hydra.compose(name, overrides=list(arguments))


def to_settings(config: DictConfig, settings: type[S]) -> S:
    for key in config:
        if str(key) not in get_type_hints(settings):  # Hydra takes +key=value
            raise ConfigError(_unknown(str(key), settings))
    for key, value in flat(OmegaConf.to_container(config)):
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"{key} must be a number, not {value}")
    made: Any = OmegaConf.to_object(config)
    return made


def flat(tree: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of nested settings with their dotted names."""
    items: Any = tree.items() if isinstance(tree, Mapping) else enumerate(tree)
    for key, value in items:
        if isinstance(value, Mapping | list) and value:
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def check_committed(words: Sequence[str], config: DictConfig) -> None:
    """What is published has settings that are in a committed file."""
    if not config.get("publish"):
        return
    groups = [folder.name for folder in CONFIGS.iterdir() if folder.is_dir()]
    for word in words:
        key = word.partition("=")[0].lstrip("+~")
        if not (key in MAY_PUBLISH or key in groups or key.startswith("launcher.")):
            raise ConfigError(f"publish=true takes committed settings only: put {word} into a file")


def choose_devices() -> None:
    """Shows all CPU cores to jax, unless devices were chosen already, and has it keep compiled
    programs."""
    runtime.use_compilation_cache()
    if jax.config.values["jax_num_cpu_devices"] < 0:
        runtime.use_cpu_cores()


def guarded(work: Callable[[], int | None], settings: type | None = None) -> int:
    """Runs `work`; what is wrong from outside becomes one line and an exit code."""
    try:
        with interrupts.remembered():
            return work() or DONE
    except (GongzhuError, HydraException, OmegaConfBaseException) as error:
        note(f"error: {_explain(error, settings)}")
        return BAD_SETTINGS
    except (MemoryError, jax.errors.JaxRuntimeError) as error:
        if not isinstance(error, MemoryError) and "RESOURCE_EXHAUSTED" not in str(error):
            raise
        first = (str(error) or "out of memory").splitlines()[0]
        note(f"error: these settings need more memory than there is: {first}")
        return BAD_SETTINGS
    except KeyboardInterrupt as stop:
        note(f"interrupted{f': {stop}' if str(stop) else ''}; the same command goes on")
        return INTERRUPTED


def open_config(settings: Any) -> DictConfig:
    """Settings, or their type, as a config that the command line can change: frozen classes make
    read-only ones, and plain dicts (the options of players) would take no new keys."""
    node = settings if isinstance(settings, DictConfig) else OmegaConf.structured(settings)
    OmegaConf.set_readonly(node, False)
    for name in node:
        child = None if OmegaConf.is_missing(node, name) else node[name]
        if isinstance(child, DictConfig) and OmegaConf.get_type(child) is dict:
            OmegaConf.set_struct(child, False)
        elif isinstance(child, DictConfig):
            open_config(child)
    return node


def _unknown(key: str, settings: Any) -> str:
    """Names the settings beside the unknown one, at its own level."""
    for part in key.split(".")[:-1]:
        inner = {field.name: field.type for field in fields(settings)}.get(part)
        if not is_dataclass(inner):
            break
        settings = inner
    names = ", ".join(field.name for field in fields(settings))
    return f"unknown setting {key!r}; there are {names}"


def _explain(error: Exception, settings: type | None) -> str:
    """One line for a person."""
    cause = error.__cause__ if isinstance(error.__cause__, OmegaConfBaseException) else error
    key = getattr(cause, "full_key", None)
    if settings is not None and key and isinstance(cause, ConfigAttributeError | ConfigKeyError):
        return _unknown(key, settings)
    if isinstance(cause, MissingConfigException) and cause.options:
        return f"there is no {cause.missing_cfg_file}; there are {', '.join(cause.options)}"
    text = "; ".join(line.strip() for line in str(cause).splitlines()[:2])
    return f"{key}: {text}" if key else text
