"""The tables of `experiments.arena_load`."""

from collections.abc import Mapping
from typing import Any

from experiments.report.figures import Line, Table

_COLUMNS = ("games", "lost_or_wrong", "plays_per_second", "median_ms", "p99_ms", "most_ms")
_PEOPLE = ("tables", "answers_per_second", "median_seconds", "p99_seconds", "most_seconds")


def arena_tables(result: Mapping[str, Any]) -> list[Table]:
    """Rounds of random bots and all of them, and people at tables of our player if there were
    any."""
    rounds = {str(number): row for number, row in enumerate(result["rounds"], start=1)}
    rows = [
        Line(label, None, cells=_cells(row, _COLUMNS) | _memory(row))
        for label, row in {**rounds, "all": result}.items()
    ]
    tables = [Table("round", rows)]
    if people := result.get("people"):
        tables.append(
            Table("people play", [Line(people["player"], None, cells=_cells(people, _PEOPLE))])
        )
    return tables


def _cells(row: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, str]:
    return {name.replace("_", " "): f"{row[name]:g}" for name in names}


def _memory(row: Mapping[str, Any]) -> dict[str, str]:
    return {"memory of the server, MB": f"{row['memory_mb']:g}" if "memory_mb" in row else ""}
