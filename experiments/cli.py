"""What every command does around its own work: settings by Hydra, devices, errors, exit codes.

    @command("evaluate", EvaluateSettings)
    def main(settings: EvaluateSettings, line: str) -> int: ...

    if __name__ == "__main__":
        sys.exit(main())

Settings come from configs/<name>.yaml and from `key=value` on the command line, and are checked
against a frozen dataclass. Exit codes: 0 all right; 2 settings or input that cannot be used, one
line on stderr says why; 130 interrupted.
"""

import functools
import os
import shlex
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Protocol, TypeVar

import hydra
import jax
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException, MissingConfigException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from experiments.results import RESULTS, recorded, start_clock, write_result
from experiments.settings import KeptSettings, PlaySettings
from gongzhu_jax import runtime
from gongzhu_jax.errors import ConfigError, GongzhuError

CONFIGS = Path(__file__).parent.parent / "configs"
DONE, BAD_SETTINGS, INTERRUPTED = 0, 2, 130

# Hydra only makes the settings: no directories, no log files, and the loggers stay as they are.
# (By default it would show every INFO line of jax; "disabled" closes the handlers of others.)
_QUIET = (
    "hydra.run.dir=.",
    "hydra.output_subdir=null",
    "hydra.sweep.dir=multirun",
    "hydra.sweep.subdir=.",
    "hydra/job_logging=none",
    "hydra/hydra_logging=none",
)

S = TypeVar("S")


class Command(Protocol):
    """Takes the arguments of the command line, by default those of this process."""

    def __call__(self, arguments: Sequence[str] | None = None) -> int: ...


def command(name: str, settings: type[S]) -> Callable[[Callable[[S, str], int]], Command]:
    """Makes a command of a function of (settings, command line) that returns an exit code."""
    ConfigStore.instance().store(f"{name}_schema", _schema(settings))

    def decorate(run: Callable[[S, str], int]) -> Command:
        @functools.wraps(run)
        def main(arguments: Sequence[str] | None = None) -> int:
            arguments = sys.argv[1:] if arguments is None else arguments
            line = recorded(shlex.join(["python", "-m", f"experiments.{name}", *arguments]))
            codes = [DONE]
            start_clock()

            def job(config: DictConfig) -> None:
                _choose_devices()  # again, in the processes of a launcher
                # Errors stop here: Hydra would report them in its own way.
                codes.append(_guarded(lambda: run(_to_settings(config, settings), line), settings))

            _choose_devices()
            codes.append(_guarded(lambda: _compose(name, arguments, job), settings))
            return max(codes)

        return main

    return decorate


def _choose_devices() -> None:
    if jax.config.values["jax_num_cpu_devices"] < 0:  # not chosen yet
        runtime.use_cpu_cores()


def finish(
    name: str, result: dict[str, Any], settings: PlaySettings | KeptSettings, line: str
) -> int:
    """Keeps a result as results/<name>.json, or where `output` says; the exit code.

    `result["interrupted"]` says whether all of it is there.
    """
    path = RESULTS / f"{name}.json" if settings.output is None else Path(settings.output)
    path = write_result(path.stem, result, line, asdict(settings), settings.seed, path.parent)
    print(f"kept in {os.path.relpath(path)}")
    if not result["interrupted"]:
        return DONE
    print("interrupted: the result has what was finished until then", file=sys.stderr)
    return INTERRUPTED


def load_settings(name: str, settings: type[S], arguments: Sequence[str] = ()) -> S:
    """The settings that a command would have with these arguments, without running it."""
    with _own_hydra(), hydra.initialize_config_dir(str(CONFIGS), version_base="1.3"):
        return _to_settings(hydra.compose(name, overrides=list(arguments)), settings)


def _compose(name: str, arguments: Sequence[str], job: Callable[[DictConfig], None]) -> int:
    # Flags first, so that all that follows is one list of settings.
    flags = [word for word in arguments if word.startswith("-")]
    words = [word for word in arguments if not word.startswith("-")]
    argv = [name, *flags, f"hydra.job.name={name}", *_QUIET, *words]
    with _own_hydra(), _process_state(argv):
        hydra.main(version_base="1.3", config_path=str(CONFIGS), config_name=name)(job)()
    return DONE


@contextmanager
def _own_hydra() -> Generator[None]:
    """Hydra is one in a process: a command that runs another one sets its own aside meanwhile."""
    outer, GlobalHydra.instance().hydra = GlobalHydra.instance().hydra, None
    try:
        yield
    finally:
        GlobalHydra.instance().hydra = outer


@contextmanager
def _process_state(argv: list[str]) -> Generator[None]:
    """What Hydra reads from the process, for the time of one call."""
    argv_before, full_before = sys.argv, os.environ.get("HYDRA_FULL_ERROR")
    sys.argv = argv
    os.environ["HYDRA_FULL_ERROR"] = "1"  # errors come out as exceptions, not as text and exit 1
    try:
        yield
    finally:
        sys.argv = argv_before
        if full_before is None:
            del os.environ["HYDRA_FULL_ERROR"]


def _guarded(work: Callable[[], int], settings: type) -> int:
    try:
        return work()
    except (GongzhuError, HydraException, OmegaConfBaseException) as error:
        print(f"error: {_explain(error, settings)}", file=sys.stderr)
        return BAD_SETTINGS
    except KeyboardInterrupt:
        print("interrupted before anything was finished", file=sys.stderr)
        return INTERRUPTED


def _schema(settings: type) -> DictConfig:
    node = OmegaConf.structured(settings)
    _open(node)
    return node


def _open(node: DictConfig) -> None:
    """Lets the command line change a node: frozen classes make read-only ones, and plain dicts
    (the options of players) would take no new keys."""
    OmegaConf.set_readonly(node, False)
    for name in node:
        child = None if OmegaConf.is_missing(node, name) else node[name]
        if isinstance(child, DictConfig) and OmegaConf.get_type(child) is dict:
            OmegaConf.set_struct(child, False)
        elif isinstance(child, DictConfig):
            _open(child)


def _to_settings(config: DictConfig, settings: type[S]) -> S:
    for key in config:
        if key not in _names(settings):  # Hydra takes it if it is written +key=value
            raise ConfigError(_unknown(key, settings))
    made: Any = OmegaConf.to_object(config)
    return made


def _names(settings: Any) -> list[str]:
    return [field.name for field in fields(settings)]


def _unknown(key: Any, settings: type) -> str:
    return f"unknown setting {key!r}; there are {', '.join(_names(settings))}"


def _explain(error: Exception, settings: type) -> str:
    """One line for a person."""
    cause = error.__cause__ if isinstance(error.__cause__, OmegaConfBaseException) else error
    key = getattr(cause, "full_key", None)
    if isinstance(cause, ConfigAttributeError | ConfigKeyError):
        return _unknown(key, settings)
    if isinstance(cause, MissingConfigException) and cause.options:
        return f"there is no {cause.missing_cfg_file}; there are {', '.join(cause.options)}"
    text = "; ".join(line.strip() for line in str(cause).splitlines()[:2])
    return f"{key}: {text}" if key else text
