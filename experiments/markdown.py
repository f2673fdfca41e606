"""Tables as Markdown."""

from collections.abc import Sequence


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """Lines as a table; the first has the heads."""
    head, *rest = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, "|---" * len(lines[0]) + "|", *rest])
