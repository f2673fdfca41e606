"""What an arena counts, in the text format of Prometheus."""

from collections import Counter as Tally
from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


class Metrics:
    def __init__(self) -> None:
        # Not the global registry: several arenas may run in one process.
        self._registry = registry = CollectorRegistry()
        self.plays = Counter(
            "arena_plays", "Cards played, by who chose them.", ["by"], registry=registry
        )
        self.games = Counter("arena_games", "Games finished and stored.", registry=registry)
        self.messages = Counter(
            "arena_messages", "Messages from clients, by type.", ["type"], registry=registry
        )
        self.errors = Counter(
            "arena_errors", "Messages refused, by code.", ["code"], registry=registry
        )
        self.requests = Counter(
            "arena_requests", "HTTP requests, by status.", ["status"], registry=registry
        )
        self.thinking = Histogram(
            "arena_thinking_seconds",
            "From asking one of our players to its card, forced moves left out.",
            ["player"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.loop_delay = Histogram(
            "arena_loop_delay_seconds",
            "How late the event loop woke up.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._tables = Gauge("arena_tables", "Open tables, by phase.", ["phase"], registry=registry)
        self._now = {
            name: Gauge(f"arena_{name}", text, registry=registry)
            for name, text in (
                ("connections", "Connected clients."),
                ("programs", "Programs that take part in matches."),
                ("matches_playing", "Matches that are being played."),
                ("matches_queued", "Matches that wait."),
                ("positions_waiting", "Positions that wait for our players."),
            )
        }

    def text(self, phases: Tally[str], now: Mapping[str, int]) -> bytes:
        """All of it; `phases` counts the tables in each, `now` has the other gauges."""
        self._tables.clear()
        for phase, count in phases.items():
            self._tables.labels(phase).set(count)
        for name, value in now.items():
            self._now[name].set(value)
        return generate_latest(self._registry)
