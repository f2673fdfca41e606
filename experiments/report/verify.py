"""Whether what this machine has played agrees with the published figures."""

from dataclasses import dataclass, field

import numpy as np

from experiments.report.figures import (
    FAILS,
    MEASURED_FAILS,
    Figure,
    Lines,
    Section,
    standard_errors,
)
from gongzhu_jax.errors import RecordError
from gongzhu_jax.evaluation.match_records import MatchRecord, RecordStore
from gongzhu_jax.evaluation.stats import estimate

DIFFERS = "DIFFERS"
"""How a verdict of disagreement begins."""


@dataclass
class Verification:
    """Compares sections of this machine with the published ones, figure by figure."""

    published: RecordStore
    here: RecordStore
    verdicts: list[tuple[str, str]] = field(default_factory=list)  # figure, verdict in words

    def compare(self, published: Section, here: Section) -> list[Lines]:
        """The tables of the published section with the figures of this machine and verdicts."""
        mine = {(table.head, table.caption): table for table in here.tables}
        tables = []
        for table in published.tables:
            other = mine.get((table.head, table.caption))
            figures = {row.label: row.figure for row in other.rows} if other else {}
            said = {}
            for row in table.rows:
                played = figures.get(row.label)
                verdict = self._judge(row.figure, played) if row.figure and played else None
                if verdict is not None:
                    name = f"{published.title}: {table.caption} {row.label}".replace(":  ", ": ")
                    self.verdicts.append((name, verdict))
                    said[row.label] = verdict
            tables.append(table.beside(other, said))
        return tables

    def _judge(self, one: Figure, other: Figure) -> str | None:
        if one.match is not None and other.match is not None:
            try:
                return self._judge_matches(one, other)
            except RecordError as error:
                return f"{DIFFERS}: {error}"
        apart = standard_errors(one, other)
        if apart is None:
            return None
        return f"{'agrees' if apart <= MEASURED_FAILS else DIFFERS} ({apart:.1f} s.e.)"

    def _judge_matches(self, one: Figure, other: Figure) -> str:
        theirs = self.published.get(one.match or "", one.deals or 0)
        mine = self.here.get(other.match or "", other.deals or 0)
        whole = estimate(theirs.margins).mean
        if abs(whole - (one.value or 0.0)) > 0.05:
            return f"{DIFFERS}: its record says {whole:.1f}, the published table {one.text}"
        count = min(len(theirs.margins), len(mine.margins))
        change = mine.margins[:count] - theirs.margins[:count]
        if not np.any(change):
            return f"equal deal by deal ({count} deals)"
        if theirs.match == mine.match and _platform(theirs) == _platform(mine):
            return f"{DIFFERS}: {np.count_nonzero(change)} of {count} deals, on the same platform"
        paired = estimate(change)
        by_deal = abs(paired.mean) / paired.standard_error if count > 1 else 0.0
        fine = max(standard_errors(one, other) or 0.0, by_deal) <= FAILS
        words = f"{'agrees' if fine else DIFFERS} ({by_deal:.1f} s.e. on the same deals)"
        if theirs.match != mine.match:
            words += "; the players choose other cards than those of the record"
        return words

    @property
    def disagreements(self) -> list[str]:
        return [f"{name}: {words}" for name, words in self.verdicts if words.startswith(DIFFERS)]

    @property
    def summary(self) -> str:
        """The line at the top of the report."""
        wrong, count = self.disagreements, len(self.verdicts)
        if not count:
            return "No figure played here has been published yet, so there is nothing to compare."
        if wrong:
            return f"{len(wrong)} of {count} figures played here DO NOT AGREE: {'; '.join(wrong)}."
        equal = sum(words.startswith("equal") for _, words in self.verdicts)
        return (
            f"All {count} figures played here agree with the published ones; {equal} of them are "
            "matches that are equal deal by deal."
        )


def _platform(record: MatchRecord) -> tuple[str, ...]:
    machine = record.segments[-1].provenance["machine"]
    return tuple(str(machine[name]) for name in ("cpu", "platform", "jax", "jaxlib"))
