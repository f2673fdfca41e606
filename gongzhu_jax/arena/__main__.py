"""`python -m gongzhu_jax.arena`: the arena on this machine."""

import argparse
import logging
import sys
from collections.abc import Sequence

from gongzhu_jax.errors import GongzhuError


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    logging.basicConfig(format="%(levelname)s %(message)s")
    try:
        import uvicorn

        from gongzhu_jax.arena.process import keep_pauses_short
        from gongzhu_jax.arena.server import make_app
        from gongzhu_jax.arena.settings import Limits, Settings
    except ModuleNotFoundError as error:
        print(f"error: {error.name} is missing: pip install 'gongzhu_jax[arena]'", file=sys.stderr)
        return 2
    try:
        limits = Limits(connections=options.connections, tables=options.tables)
        app = make_app(
            Settings(
                database=options.database,
                move_seconds=options.seconds,
                checkpoint=options.checkpoint,
                limits=limits,
            )
        )
    except GongzhuError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    keep_pauses_short()
    print(f"arena on http://{options.host}:{options.port} (Ctrl-C stops it)", flush=True)
    uvicorn.run(
        app,
        host=options.host,
        port=options.port,
        log_level="warning",
        ws="websockets-sansio",
        # Longer messages than ours are answered with an error; much longer ones end the connection.
        ws_max_size=16 * limits.message_bytes,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=5,
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gongzhu_jax.arena", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--database", default="arena.sqlite", help="file for games and results")
    parser.add_argument("--seconds", type=float, default=60.0, help="for a move")
    parser.add_argument("--checkpoint", help="network of our players; default: the shipped one")
    parser.add_argument("--connections", type=int, default=1000, help="most at a time")
    parser.add_argument("--tables", type=int, default=500, help="most at a time")
    return parser


if __name__ == "__main__":
    sys.exit(main())
