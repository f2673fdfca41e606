"""What a page shows of an experiment: figures with their errors, beside the paper's, and whether
two measurements of the same figure agree."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.paper.published import SOURCES, PaperNumber

DISAGREES = 3.0
"""Standard errors from the paper's number at which a page says that ours differs."""
FAILS = 4.0
"""Standard errors between two matches of ours at which a report says that they do not agree: there
are dozens of them."""
MEASURED_FAILS = 5.5
"""The same for figures of positions. Their errors are estimated from twenty blocks, so that the
distance has a t distribution of 19 degrees of freedom, which passes this once in 38,000 times, and
a report has hundreds of them. At 4 it passes once in 1,300."""

Lines = list[list[str]]
"""Cells of a table; the first line has the heads."""


@dataclass(frozen=True)
class Figure:
    """A measured number; that of a match names its record."""

    value: float | None
    error: float | None = None
    digits: int = 1
    match: str | None = None
    deals: int | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any], digits: int = 1) -> "Figure":
        """The figure of a match, or of an estimate over deals, by its summary."""
        match = (row["match"], row["deals"]) if "match" in row else ()
        return cls(row["mean"], row["standard_error"], digits, *match)

    @property
    def text(self) -> str:
        if self.value is None:
            return "-"
        shown = f"{self.value:z.{self.digits}f}"
        return shown if self.error is None else f"{shown} ± {self.error:.{self.digits}f}"


@dataclass(frozen=True)
class Line:
    """One line of a table: a figure of ours, the paper's, and further cells by head."""

    label: str
    figure: Figure | None = None
    paper: Sequence[PaperNumber] = ()
    cells: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)  # cells that are measured, by head


@dataclass(frozen=True)
class FigureTable:
    head: str  # of the first column
    rows: Sequence[Line]
    caption: str = ""
    fold: bool = False  # long, and shown by a picture

    @property
    def lines(self) -> Lines:
        """The table with our figures."""
        cells = [
            {**row.cells, **{head: figure.text for head, figure in row.figures.items()}}
            for row in self.rows
        ]
        heads = list(dict.fromkeys(head for of_row in cells for head in of_row))
        ours = ["ours"] if any(row.figure for row in self.rows) else []
        lines = [[self.head, *self._paper_heads, *ours, *heads]]
        for row, of_row in zip(self.rows, cells, strict=True):
            figure = [row.figure.text if row.figure else ""] if ours else []
            more = [of_row.get(head, "") for head in heads]
            lines.append([row.label, *self._paper(row), *figure, *more])
        return lines

    def beside(self, here: "FigureTable | None", verdicts: Mapping[str, str]) -> Lines:
        """The table with the published figures, those of this machine, and whether they agree, in
        words by label."""
        mine = {row.label: row.figure for row in here.rows} if here else {}
        lines = [[self.head, *self._paper_heads, "published", "this machine", "agreement"]]
        for row in self.rows:
            figures = [each.text if each else "" for each in (row.figure, mine.get(row.label))]
            lines.append([row.label, *self._paper(row), *figures, verdicts.get(row.label, "")])
        return lines

    def markdown(self, lines: Lines | None = None) -> str:
        """The table, or other lines in its place, with the caption; long ones fold away."""
        text = markdown(self.lines if lines is None else lines)
        if self.fold:
            summary = self.caption or self.head
            return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"
        return f"{self.caption}\n\n{text}" if self.caption else text

    @property
    def _paper_heads(self) -> list[str]:
        used = {number.where for row in self.rows for number in row.paper}
        return [head for where, head in SOURCES.items() if where in used]

    def _paper(self, row: Line) -> list[str]:
        by_place = {SOURCES[number.where]: number.text for number in row.paper}
        return [by_place.get(head, "") for head in self._paper_heads]


@dataclass(frozen=True)
class Section:
    """One experiment on a page."""

    title: str
    words: str  # what was measured, for somebody who reads only this
    tables: Sequence[FigureTable] = ()
    pictures: Mapping[str, str] = field(default_factory=dict)  # file name -> caption
    remarks: Sequence[str] = ()

    def links(self, folder: Path, page: Path) -> list[str]:
        """Links in Markdown from a page to those pictures that are in the folder."""
        return [
            f"![{caption}]({os.path.relpath(folder / file, page.parent)})"
            for file, caption in self.pictures.items()
            if (folder / file).is_file()
        ]


def markdown(lines: Lines) -> str:
    """Lines as a table in Markdown."""
    head, *rest = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, "|---" * len(lines[0]) + "|", *rest])


def standard_errors(one: Figure, other: Figure) -> float | None:
    """The difference in standard errors; None if it cannot be told."""
    if one.value is None or other.value is None or (one.error is None and other.error is None):
        return None
    spread = math.hypot(one.error or 0.0, other.error or 0.0)
    difference = abs(one.value - other.value)
    return difference / spread if spread > 0 else (0.0 if difference == 0 else math.inf)


def disagreements(rows: Sequence[Line]) -> list[str]:
    """Rows that differ from the paper's text or figures by more than chance allows."""
    said = []
    for row in rows:
        for number in row.paper:
            if row.figure is None or row.figure.error is None or number.said:
                continue
            apart = standard_errors(row.figure, Figure(number.value, number.error))
            if apart is not None and apart > DISAGREES:
                said.append(f"{row.label} (ours {row.figure.text}, {number.text})")
                break
    return said
