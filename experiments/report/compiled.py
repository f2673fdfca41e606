"""What `experiments.compile_check` found, for pages."""

from collections.abc import Mapping
from typing import Any


def table_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the table: the loops without their details."""
    loops = " · ".join(
        f"{'in it ' * loop['depth']}{loop['kernels']}"
        f"{' + ' + str(len(loop['collectives'])) + ' messages' if loop['collectives'] else ''}"
        for loop in row["loops"]
    )
    return {
        "program": f"{row['program']} ({row['what']})",
        "sizes for": row["sizes"].upper(),
        "GPUs": f"{row['devices']} x {row['target'].upper()}",
        "state MB": row["state_mb"],
        "temporaries MB": row["temporaries_mb"],
        "kernels in a turn of each loop": loops,
        "kernels per 1000 evaluations": row["kernels_per_1000_evaluations"],
        "evaluations/s (estimate)": row["estimated_evaluations_per_second"],
        "games/s (estimate)": row["estimated_games_per_second"],
    }
