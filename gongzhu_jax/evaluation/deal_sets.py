"""Fixed sets of deals with a version and a purpose, and deals from a file.

Settings are chosen on development sets. They are fixed and committed before a published set is
played, and nothing is chosen by its figures; once it has been, the set is retired to development
and a new one is opened. docs/results.md lists what has been played on each set.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gongzhu_jax import records
from gongzhu_jax.errors import ConfigError, DealError, GongzhuError, RecordError
from gongzhu_jax.evaluation.deals import BLOCK, Deals, digest, random_deals
from gongzhu_jax.game.cards import NUM_CARDS, NUM_SEATS
from gongzhu_jax.game.checks import check_owners

FROM_SEED = "seed"
"""The name that stands for deals drawn from the seed of the match, in place of a set."""
FILE_ENDINGS = (".jsonl", ".jsonl.gz")


@dataclass(frozen=True)
class DealSet:
    """Deals drawn from a fixed seed, verified by the digest of the first 4096."""

    name: str
    version: int
    seed: int
    sha256: str
    purpose: str

    @property
    def label(self) -> str:
        """How commands and pages call the set."""
        return f"{self.name}-{self.version}"

    @property
    def is_published(self) -> bool:
        return self.name == "published"


SETS = {
    deal_set.label: deal_set
    for deal_set in (
        DealSet(
            "development",
            1,
            20_210_215,
            "99fd0545bcded066cffc9676119e465cea46f22434a82cb16e7dee9402944ae7",
            "for choosing between settings",
        ),
        DealSet(
            "development",
            2,
            20_210_216,
            "22a6f2efc9bf8347ce0bf77ffb91760e71dd6cc16be1967cb33c822d44c87078",
            "for choosing between settings; until 2026-11-17 it was the final set, and the number "
            "of scenarios of scrofa-strong was set with its figures known",
        ),
        DealSet(
            "published",
            1,
            20_261_117,
            "1cd99a5a5ac12c10c7c4fccfa8affe633b378db207fa26f39624127f510dd507",
            "for published figures only",
        ),
        DealSet(
            "published",
            2,
            20_261_119,
            "3d68bc32f31c7f4ae7ddc11afc3c61b74e85255f6bcc0e8541ac09322a394156",
            "for published figures of what figures of published-1 suggested to try",
        ),
    )
}


@dataclass(frozen=True)
class ChosenDeals:
    """Deals to play, and what they are a part of."""

    deals: Deals
    identity: dict[str, Any]  # set, version and the SHA-256 of the whole set


def check_set(name: str) -> None:
    """`ConfigError` unless `choose_deals` can make something of the name."""
    if name not in SETS and name != FROM_SEED and not name.endswith(FILE_ENDINGS):
        known = ", ".join((*SETS, FROM_SEED))
        raise ConfigError(f"set must be one of {known}, or a file *.jsonl, not {name!r}")


def choose_deals(name: str, count: int, seed: int = 0) -> ChosenDeals:
    """The first `count` deals of a set, of `seed` (`set=seed`), or of a file."""
    check_set(name)
    if count < 1:
        raise DealError(f"the number of deals must be at least 1, not {count}")
    if name.endswith(FILE_ENDINGS):
        return _from_file(name, count)
    if name == FROM_SEED:
        whole = digest(random_deals(seed, BLOCK).owners)
        identity = {"set": name, "version": seed, "sha256": whole}
        return ChosenDeals(random_deals(seed, count), identity)
    chosen = SETS[name]
    if digest(random_deals(chosen.seed, BLOCK).owners) != chosen.sha256:
        raise DealError(f"this version of jax draws other deals than those of the set {name!r}")
    identity = {"set": chosen.name, "version": chosen.version, "sha256": chosen.sha256}
    return ChosenDeals(random_deals(chosen.seed, count), identity)


def _from_file(path: str, count: int) -> ChosenDeals:
    """Lines are game records (later rotations of a deal are passed over), lists of 52 owners, or
    52 digits; the leader of owners alone is seat i % 4 for line i, as in the fixed sets."""
    owners: list[np.ndarray] = []
    leaders: list[int] = []
    try:
        lines = list(records.read_lines(path))
    except RecordError as error:
        raise DealError(str(error)) from error
    for number, line in enumerate(lines, start=1):
        try:
            deal, leader, first = _parse(line, (number - 1) % NUM_SEATS)
        except GongzhuError as error:
            raise DealError(f"{path}:{number}: {error}") from error
        if first:
            owners.append(deal)
            leaders.append(leader)
    if count > len(owners):
        raise DealError(f"{path} has only {len(owners)} deals, not {count}")
    everything = np.array(owners, np.int8)
    starts = np.array(leaders, np.int8)
    numbers = np.arange(len(owners), dtype=np.int32)
    whole = digest(np.concatenate([everything, starts[:, None]], axis=1))
    identity = {"set": Path(path).name, "version": 0, "sha256": whole}
    return ChosenDeals(Deals(everything, starts, numbers).part(0, count), identity)


def _parse(line: str, usual_leader: int) -> tuple[np.ndarray, int, bool]:
    """Owners, leader, and whether this is the first rotation of its deal."""
    text = line.strip()
    if text.startswith("{"):
        record = records.parse(text)
        records.replay_records([record])
        first = record.metadata.get("rotation", 0) == 0
        return np.array(record.deal, np.int8), record.leader, first
    if len(text) == NUM_CARDS and text.isdigit():
        return check_owners([int(digit) for digit in text]), usual_leader, True
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise DealError("a line is a game record, a list of 52 owners, or 52 digits") from error
    if not isinstance(fields, list):
        raise DealError("a line is a game record, a list of 52 owners, or 52 digits")
    return check_owners(fields), usual_leader, True
