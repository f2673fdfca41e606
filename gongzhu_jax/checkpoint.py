"""Checkpoints of training runs, on Orbax. They are atomic, written while training continues, and
verified when read; the last few and the best one are kept.

A run's folder holds `last/<epoch>` and `best/<epoch>`. Each has the items
  state   the whole run, for resuming
  params  the parameters that play, for players
  about   configuration, rules version, commit, digests, progress (JSON)
"""

import hashlib
import json
from collections.abc import Mapping
from os import PathLike
from typing import Any

import jax
import numpy as np

from gongzhu_jax.errors import CheckpointError
from gongzhu_jax.game.env import RULES_VERSION

FORMAT = 1
LAST, BEST = "last", "best"


def storage_path(path: str | PathLike) -> Any:
    """A path as Orbax takes it: absolute, and `gs://` and `s3://` as they are."""
    from etils import epath

    return epath.Path(path) if "://" in str(path) else epath.Path(path).resolve()


class Checkpoints:
    """The checkpoints of one run, in a folder or in a bucket (`gs://`, `s3://`)."""

    def __init__(self, directory: str | PathLike, keep: int = 2):
        """`keep` is how many of the last checkpoints stay."""
        self.directory, self._keep = storage_path(directory), keep
        self._managers: dict[str, Any] = {}  # by series, of those that were written here

    def save(self, series: str, epoch: int, state: Any, params: Any, about: Mapping) -> None:
        """Starts to write a checkpoint; buffers of `state` may be donated at once, as Orbax has
        them on the host by then (on CPUs jax reuses no buffer that numpy looks at).

        The checkpoint appears under its name only when it is complete, which `wait` waits for. If a
        write fails, the next call raises its error.
        """
        import orbax.checkpoint as ocp  # slow to import, and playing needs none of it

        digests = {"state": digest(state), "params": digest(params)}
        header = {"format": FORMAT, "rules": RULES_VERSION, "digests": digests, **about}
        for other in self._managers.values():
            # One write at a time: the processes of a run, which wait for each other while they
            # write, would otherwise not agree on the order, and wait for ever.
            other.wait_until_finished()
        if series not in self._managers:
            self._managers[series] = self._manager(series)
        manager = self._managers[series]
        if epoch in manager.all_steps():
            manager.delete(epoch)  # written just before a run was killed, and now once more
        items = ocp.args.Composite(
            state=ocp.args.StandardSave(state),
            params=ocp.args.StandardSave(params),
            about=ocp.args.JsonSave(header),
        )
        manager.save(epoch, args=items, force=True)

    def wait(self) -> None:
        """Waits until all checkpoints are complete."""
        while self._managers:
            _, manager = self._managers.popitem()
            manager.close()

    def epochs(self, series: str = LAST) -> list[int]:
        """Epochs of the complete checkpoints, oldest first."""
        import orbax.checkpoint as ocp

        folder = self.directory / series
        return sorted(ocp.utils.checkpoint_steps(folder)) if folder.is_dir() else []

    def about(self, series: str, epoch: int) -> dict[str, Any]:
        """The header of a checkpoint; `CheckpointError` if it is not one of ours."""
        import orbax.checkpoint as ocp

        folder = self.directory / series / str(epoch)
        try:
            header = ocp.Checkpointer(ocp.JsonCheckpointHandler()).restore(folder / "about")
        except Exception as error:  # Orbax raises many kinds for damaged or foreign folders
            raise self._unreadable(series, epoch, "its header is damaged or missing") from error
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise CheckpointError(f"{folder} is not a checkpoint of this program")
        if header["rules"] != RULES_VERSION:
            raise CheckpointError(
                f"{folder} was made for rules {header['rules']}, this is {RULES_VERSION}"
            )
        return header

    def restore(self, series: str, epoch: int, item: str, like: Any) -> Any:
        """An item with the structure, shapes and placement of `like`, verified by its digest."""
        import orbax.checkpoint as ocp

        header = self.about(series, epoch)
        folder = self.directory / series / str(epoch) / item
        try:
            read_arrays(folder)
            handler = ocp.Checkpointer(ocp.StandardCheckpointHandler())
            content = handler.restore(folder, args=ocp.args.StandardRestore(like))
        except (DamagedFileError, json.JSONDecodeError, UnicodeError, OSError, KeyError) as error:
            reason = f"the files of its {item} are damaged or incomplete"
            raise self._unreadable(series, epoch, reason) from error
        except Exception as error:
            raise self._unreadable(series, epoch, error) from error
        if digest(content) != header["digests"][item]:
            raise self._unreadable(series, epoch, "its content does not match its digest")
        return content

    def _manager(self, series: str) -> Any:
        import orbax.checkpoint as ocp

        folder = self.directory / series
        keep = self._keep if series == LAST else 1
        options = ocp.CheckpointManagerOptions(
            preservation_policy=ocp.checkpoint_managers.LatestN(keep),
            create=True,
            cleanup_tmp_directories=True,  # of a run that was killed
        )
        return ocp.CheckpointManager(folder, options=options)

    def _unreadable(self, series: str, epoch: int, reason: object) -> CheckpointError:
        first = (str(reason).strip() or repr(reason)).splitlines()[0][:200]
        others = {k: [e for e in self.epochs(k) if (k, e) != (series, epoch)] for k in (LAST, BEST)}
        names = [f"{k}/{e}" for k, epochs in others.items() for e in epochs]
        offer = f"; other checkpoints there: {', '.join(names)}" if names else ""
        if series == LAST and others[LAST]:
            offer += f" (delete last/{epoch} to resume from last/{others[LAST][-1]})"
        return CheckpointError(
            f"cannot read checkpoint {self.directory / series / str(epoch)}: {first}{offer}"
        )


class DamagedFileError(Exception):
    """Files of a checkpoint that do not hold what they should."""


def read_arrays(folder: Any) -> None:
    """Reads the arrays of an item one after another; `DamagedFileError` if one cannot be read.

    Orbax reads all of them at once, and when one fails, every other one that is still being read
    prints a traceback about a closed event loop. Not for buckets, from which nothing should be
    fetched twice.
    """
    import tensorstore as ts

    if "://" in str(folder):
        return
    files = {"driver": "ocdbt", "base": {"driver": "file", "path": f"{folder}/"}}
    ending = b".zarray"
    try:
        keys = ts.KvStore.open(files).result().list().result()
        arrays = [key.removesuffix(ending).decode() for key in keys if key.endswith(ending)]
        for path in arrays:
            spec = {"driver": "zarr", "kvstore": {**files, "path": path}}
            ts.open(spec, read=True).result().read().result()
    except ValueError as error:  # of TensorStore
        raise DamagedFileError(str(error)) from error
    if not arrays:
        raise DamagedFileError(f"there are no arrays in {folder}")


def digest(tree: Any) -> str:
    """SHA-256 over names, types and bytes of all leaves that this process can see whole."""
    hashed = hashlib.sha256()
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        if isinstance(leaf, jax.Array) and not leaf.is_fully_addressable:
            if not leaf.is_fully_replicated:
                continue  # parts of it live on other hosts
            leaf = leaf.addressable_data(0)
        array = np.asarray(leaf)
        hashed.update(f"{jax.tree_util.keystr(path)} {array.dtype} {array.shape}".encode())
        hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()
