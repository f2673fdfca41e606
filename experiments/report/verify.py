"""Whether what this machine has played agrees with the published figures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from experiments.report.figures import FAILS, Figure, Section, Table, standard_errors
from gongzhu_jax.errors import RecordError
from gongzhu_jax.evaluation.match_records import MatchRecord, MatchStore
from gongzhu_jax.evaluation.stats import estimate


@dataclass(frozen=True)
class Verdict:
    """One figure, published and played here."""

    name: str
    agrees: bool
    words: str


@dataclass
class Verification:
    """Compares sections of this machine with the published ones, figure by figure."""

    published: MatchStore
    here: MatchStore
    verdicts: list[Verdict] = field(default_factory=list)

    def compare(self, published: Section, here: Section) -> list[Mapping[str, str]]:
        """For each table of the published section: verdict in words by label."""
        words = []
        for table, mine in zip(published.tables, _aligned(published, here), strict=True):
            said = {}
            figures = {row.label: row.figure for row in mine.rows} if mine else {}
            for row in table.rows:
                if row.figure is None or figures.get(row.label) is None:
                    continue
                name = f"{published.title}: {table.caption} {row.label}".replace(":  ", ": ")
                verdict = self._judge(name, row.figure, figures[row.label])
                if verdict is not None:
                    self.verdicts.append(verdict)
                    said[row.label] = verdict.words
            words.append(said)
        return words

    def _judge(self, name: str, one: Figure, other: Figure | None) -> Verdict | None:
        assert other is not None
        if one.match is not None and other.match is not None:
            try:
                return self._judge_matches(name, one, other)
            except RecordError as error:
                return Verdict(name, False, f"DIFFERS: {error}")
        apart = standard_errors(one, other)
        if apart is None:
            return None
        fine = apart <= FAILS
        return Verdict(name, fine, f"{'agrees' if fine else 'DIFFERS'} ({apart:.1f} s.e.)")

    def _judge_matches(self, name: str, one: Figure, other: Figure) -> Verdict:
        theirs = self.published.get(one.match or "", one.deals or 0)
        mine = self.here.get(other.match or "", other.deals or 0)
        whole = estimate(theirs.margins).mean
        apart = standard_errors(one, other) or 0.0
        if abs(whole - (one.value or 0.0)) > 0.05:
            words = f"DIFFERS: its record says {whole:.1f}, the published table {one.text}"
            return Verdict(name, False, words)
        count = min(len(theirs.margins), len(mine.margins))
        change = mine.margins[:count] - theirs.margins[:count]
        different = int(np.sum(change != 0))
        if not different:
            return Verdict(name, True, f"equal deal by deal ({count} deals)")
        if theirs.match == mine.match and _platform(theirs) == _platform(mine):
            words = f"DIFFERS: {different} of {count} deals, on the same platform"
            return Verdict(name, False, words)
        paired = estimate(change)
        by_deal = abs(paired.mean) / paired.standard_error if count > 1 else 0.0
        fine = max(apart, by_deal) <= FAILS
        words = f"{'agrees' if fine else 'DIFFERS'} ({by_deal:.1f} s.e. on the same deals)"
        if theirs.match != mine.match:
            words += "; the players choose other cards than those of the record"
        return Verdict(name, fine, words)

    @property
    def agrees(self) -> bool:
        return all(verdict.agrees for verdict in self.verdicts)

    @property
    def summary(self) -> str:
        """The line at the top of the report."""
        wrong = [verdict for verdict in self.verdicts if not verdict.agrees]
        count = len(self.verdicts)
        if not count:
            return "No figure played here has been published yet, so there is nothing to compare."
        if wrong:
            names = "; ".join(f"{verdict.name}: {verdict.words}" for verdict in wrong)
            return f"{len(wrong)} of {count} figures played here DO NOT AGREE: {names}."
        equal = sum(verdict.words.startswith("equal") for verdict in self.verdicts)
        return (
            f"All {count} figures played here agree with the published ones; {equal} of them are "
            "matches that are equal deal by deal."
        )


def _aligned(published: Section, here: Section) -> list[Table | None]:
    """The tables of this machine in the order of the published ones."""
    mine = {(table.head, table.caption): table for table in here.tables}
    return [mine.get((table.head, table.caption)) for table in published.tables]


def _platform(record: MatchRecord) -> tuple[str, ...]:
    machine = record.segments[-1].provenance["machine"]
    return tuple(str(machine[name]) for name in ("cpu", "platform", "jax", "jaxlib"))


def stores(published: Path, here: Path) -> Verification:
    return Verification(MatchStore(published), MatchStore(here))
