"""What a player does in fixed positions with fixed keys: a change of code that changes play is
noticed by it, a change that does not (a comment, a faster loop) is not."""

import functools
import hashlib
import json
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import jax
import jaxlib
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal
from jax.interpreters.partial_eval import dce_jaxpr

from gongzhu_jax.checkpoint import digest
from gongzhu_jax.device_profile import SPEED_SETTINGS
from gongzhu_jax.files import write_whole
from gongzhu_jax.game import env
from gongzhu_jax.game.cards import NUM_CARDS
from gongzhu_jax.game.public_view import PublicView, view
from gongzhu_jax.game.random_play import play_random, random_position
from gongzhu_jax.players.plain import PlainAct
from gongzhu_jax.players.protocol import Player, SeesAll

POSITIONS = 64
LATEST = 47
"""The last stage at which there can be a choice."""
_PACKAGE = Path(__file__).parent.parent
_NOT_PLAYING = ("arena", "adapters", "console", "shipped")


def player_identity(player: Player) -> dict[str, Any]:
    """Everything that a player is made of, but for settings of speed, and for settings that were
    added after matches had been recorded, as long as they have their default: those records stay
    valid, and the fingerprints tell whether play has changed."""
    return {
        "name": player.name,
        "config": _recorded(player.config),
        "params": digest(player.params),
    }


def _recorded(config: Any) -> Any:
    """The fields of a configuration, with those of its parts, as `player_identity` has them."""
    if not is_dataclass(config):
        return config
    values = [(field, getattr(config, field.name)) for field in fields(config)]
    return {
        field.name: _recorded(value)
        for field, value in values
        if field.name not in SPEED_SETTINGS
        and not (field.metadata.get("added") and value == field.default)
    }


def json_digest(value: Any, length: int = 20) -> str:
    """A name for plain data, the same for equal data."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:length]


@functools.cache
def source_digest(package: Path = _PACKAGE) -> str:
    """A digest of the source of a package; by default of those of ours that play."""
    content = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] not in _NOT_PLAYING:
            content.update(f"{path.relative_to(package)}\n".encode() + path.read_bytes())
    return content.hexdigest()[:20]


def fingerprint(player: Player) -> str:
    """A digest of the cards that the player chooses in fixed positions, of these positions, and of
    how the games end that go on from there at random, so that it also tells changed rules."""
    states, views, keys, ends = fixed_positions()
    shown = states if isinstance(player.act_batch, SeesAll) else views
    cards = np.asarray(jax.jit(player.act_batch)(player.params, keys, shown), np.int8)
    player.raise_failure()
    content = hashlib.sha256(cards.tobytes())
    for part in (states.plays, states.holder, ends):
        content.update(np.asarray(part, np.int32).tobytes())
    return content.hexdigest()[:20]


@functools.cache
def fixed_positions() -> tuple[env.GameState, PublicView, jax.Array, np.ndarray]:
    """Fixed states, the views of their players to move, keys, and points at the end. [64] each"""
    position_key, decision_key, end_key = jax.random.split(
        jax.random.key(20_261_117, impl="threefry2x32"), 3
    )

    @jax.jit
    @jax.vmap
    def look(key, end_key):
        state = random_position(key, 0, LATEST)
        end = env.scores(play_random(end_key, state, NUM_CARDS))
        return state, view(state, env.player_to_move(state)), end

    split = functools.partial(jax.random.split, num=POSITIONS)
    states, views, ends = look(split(position_key), split(end_key))
    return states, views, split(decision_key), np.asarray(ends)


def program_digest(player: Player) -> str:
    """A digest of the player's program and of those parameters that it uses: players with equal
    ones are the same, whatever their options say. Nothing is compiled or computed."""
    states, views, keys, _ = fixed_positions()
    shown = states if isinstance(player.act_batch, SeesAll) else views
    closed = jax.make_jaxpr(player.act_batch)(player.params, keys, shown)
    jaxpr, used = dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars))
    leaves = jax.tree.leaves(player.params)
    kept = [leaf for leaf, is_used in zip(leaves, used, strict=False) if is_used]
    constants = [np.asarray(constant) for constant in closed.consts]
    # A player in plain Python is a call to the host: the program does not say what it does there.
    host = player_identity(player) if isinstance(player.act_batch, PlainAct) else None
    return json_digest([_jaxpr_digest(jaxpr, {}), digest([*kept, *constants]), host])


def _jaxpr_digest(jaxpr: Jaxpr, known: dict[int, str]) -> str:
    """A digest of a program and of those in it. Not of its text, which depends on what jax has
    traced before: it shows a part once where two uses share one object."""
    if id(jaxpr) in known:
        return known[id(jaxpr)]
    numbers: dict[Any, int] = {}

    def operand(atom: Any) -> Any:
        return str(atom) if isinstance(atom, Literal) else numbers.setdefault(atom, len(numbers))

    def parameter(value: Any) -> Any:
        if isinstance(value, tuple | list):
            return [parameter(item) for item in value]
        if isinstance(value, ClosedJaxpr):
            return [_jaxpr_digest(value.jaxpr, known), digest([*map(np.asarray, value.consts)])]
        if isinstance(value, Jaxpr):
            return _jaxpr_digest(value, known)
        return re.sub("0x[0-9a-f]+", "", str(value))  # addresses of functions

    inputs = [(operand(var), str(var.aval)) for var in (*jaxpr.constvars, *jaxpr.invars)]
    equations = [
        (
            eqn.primitive.name,
            sorted((name, parameter(value)) for name, value in eqn.params.items()),
            [operand(atom) for atom in eqn.invars],
            [(operand(var), str(var.aval)) for var in eqn.outvars],
        )
        for eqn in jaxpr.eqns
    ]
    outputs = [operand(atom) for atom in jaxpr.outvars]
    known[id(jaxpr)] = json_digest([inputs, equations, outputs])
    return known[id(jaxpr)]


class Fingerprints:
    """Fingerprints of players, kept in a file: the same source on the same platform gives the same
    one, and compiling a player only to ask it again takes long."""

    def __init__(self, path: Path | None = None):
        self._path = path
        self._known: dict[str, str] = {}
        if path is not None and path.is_file():
            self._known = json.loads(path.read_text())

    def of(self, player: Player) -> str:
        device = jax.devices()[0]
        versions = (jax.__version__, jaxlib.__version__, device.platform, device.device_kind)
        name = json_digest([source_digest(), versions, player_identity(player)])
        if name not in self._known:
            self._known[name] = fingerprint(player)
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(self._path, json.dumps(self._known, indent=0).encode())
        return self._known[name]
