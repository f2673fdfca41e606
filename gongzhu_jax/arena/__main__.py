"""`python -m gongzhu_jax.arena`: the arena on this machine."""

import argparse
import contextlib
import logging
import os
import sys
from collections.abc import Sequence

from gongzhu_jax import players, runtime
from gongzhu_jax.errors import GongzhuError, PlayerError

_PREPARE = {"all": True, "none": False}


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    logging.basicConfig(
        format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.WARNING
    )
    try:
        from gongzhu_jax.arena.process import keep_pauses_short
        from gongzhu_jax.arena.server import make_app
        from gongzhu_jax.arena.settings import Limits, Settings
        from gongzhu_jax.arena.web_server import bind, make_server
    except ModuleNotFoundError as error:
        print(f"error: {error.name} is missing: pip install 'gongzhu_jax[arena]'", file=sys.stderr)
        return 2
    try:
        for given in options.player:
            _add_player(given)
        limits = Limits(
            connections=options.connections,
            connections_per_address=options.connections_per_address,
            tables=options.tables,
            tables_per_address=options.tables_per_address,
        )
        settings = Settings(
            database=options.database,
            move_seconds=options.seconds,
            checkpoint=options.checkpoint,
            prepare=_PREPARE.get(options.prepare, tuple(options.prepare.split(","))),
            limits=limits,
        )
        # In this order: a second start must not touch what a running server uses.
        bound = bind(options.host, options.port)
        app = make_app(settings)
    except GongzhuError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    runtime.use_compilation_cache()
    keep_pauses_short()
    server = make_server(app, limits, options.root_path, on_exit=app.state.service.lobby.drain)
    port = bound.getsockname()[1]
    print(f"arena on http://{options.host}:{port} (Ctrl-C stops it)", flush=True)
    with contextlib.suppress(KeyboardInterrupt):  # it has stopped the server by then
        server.run(sockets=[bound])
    # Everything is stored. A program that is being compiled would be waited for.
    logging.shutdown()
    os._exit(0)


def _add_player(given: str) -> None:
    """Has a player from outside play under a name that the page can show."""
    from gongzhu_jax.arena.names import check_name

    name, _, factory = given.partition("=")
    if not factory:
        raise PlayerError(f"--player wants NAME=module:function, not {given!r}")
    try:
        check_name(name)
    except ValueError as error:
        raise PlayerError(f"--player: the name {name!r} {error}") from None
    players.add(name, factory)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gongzhu_jax.arena", description=__doc__)
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on")
    add("--port", type=int, default=8765)
    add("--database", default="arena.sqlite", help="file for games and results")
    add("--seconds", type=float, default=60.0, help="for a move")
    add("--checkpoint", help="network of our players; default: the shipped one")
    add(
        "--player",
        action="append",
        default=[],
        metavar="NAME=module:function",
        help="a player of your own, at the tables like ours; may be given several times",
    )
    add("--root-path", default="", help="path that a proxy in front of the server takes away")
    add("--connections", type=int, default=1000, help="most at a time")
    add("--connections-per-address", type=int, default=64, help="most at a time")
    add("--tables", type=int, default=500, help="most at a time")
    add("--tables-per-address", type=int, default=64, help="most at a time")
    add(
        "--prepare",
        default="all",
        help="our players to compile at the start: all, none, or NAME,...",
    )
    add(
        "--no-prepare", dest="prepare", action="store_const", const="none", help="as --prepare none"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
