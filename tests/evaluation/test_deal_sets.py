"""Versioned sets of deals, and deals from files."""

import json
from pathlib import Path

import numpy as np
import pytest

from gongzhu_jax import records
from gongzhu_jax.errors import ConfigError, DealError
from gongzhu_jax.evaluation import play_match
from gongzhu_jax.evaluation.deal_sets import SETS, choose_deals
from gongzhu_jax.evaluation.deals import BLOCK, digest
from tests.evaluation.simple_players import high_player, random_player


@pytest.mark.parametrize("name", SETS)
def test_sets_have_not_changed(name: str) -> None:
    chosen = choose_deals(name, BLOCK)
    assert digest(chosen.deals.owners) == SETS[name].sha256 == chosen.identity["sha256"]
    assert np.bincount(chosen.deals.owners[7]).tolist() == [13] * 4
    shorter = choose_deals(name, 5)
    np.testing.assert_array_equal(shorter.deals.owners, chosen.deals.owners[:5])
    assert shorter.identity == chosen.identity


def test_the_first_deal_of_a_set_is_known() -> None:
    # Seen by eye, not by checksum: the hand of seat 0 in deal 0.
    owners = choose_deals("development-1", 1).deals.owners[0]
    assert np.flatnonzero(owners == 0).tolist() == [1, 6, 7, 12, 15, 19, 23, 27, 36, 42, 44, 45, 51]


def test_sets_share_no_deal() -> None:
    published = [name for name, each in SETS.items() if each.is_published]
    assert published == ["published-1", "published-2"]
    sets = [choose_deals(name, BLOCK).deals.owners for name in SETS]
    assert len({deal.tobytes() for owners in sets for deal in owners}) == BLOCK * len(SETS)


def test_deals_of_a_seed() -> None:
    one, other = choose_deals("seed", 3, 1), choose_deals("seed", 3, 2)
    assert one.identity != other.identity
    assert (one.deals.owners != other.deals.owners).any()


def test_a_file_of_owners(tmp_path: Path) -> None:
    owners = choose_deals("development-1", 5).deals.owners
    path = tmp_path / "deals.jsonl"
    lines = [json.dumps(deal.tolist()) for deal in owners[:3]]
    lines += ["".join(map(str, deal)) for deal in owners[3:].tolist()]
    path.write_text("\n".join(lines) + "\n")
    chosen = choose_deals(str(path), 5)
    np.testing.assert_array_equal(chosen.deals.owners, owners)
    assert chosen.deals.leaders.tolist() == [0, 1, 2, 3, 0]
    assert choose_deals(str(path), 2).identity == chosen.identity
    path.write_text("\n".join(lines[::-1]) + "\n")
    assert choose_deals(str(path), 5).identity != chosen.identity


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_a_file_of_games(tmp_path: Path, ending: str) -> None:
    """Played again, the games give the same match: later rotations are not deals of their own."""
    deals = choose_deals("development-1", 3).deals
    match = play_match(high_player, random_player, deals, keep_states=True)
    path = tmp_path / f"games.{ending}"
    records.write(path, match.seating.records())
    chosen = choose_deals(str(path), 3)
    np.testing.assert_array_equal(chosen.deals.owners, deals.owners)
    np.testing.assert_array_equal(chosen.deals.leaders, deals.leaders)
    with pytest.raises(DealError, match="has only 3 deals, not 4"):
        choose_deals(str(path), 4)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nonsense", "a line is a game record"),
        ("7", "a line is a game record"),
        (json.dumps([0] * 52), "13"),
        (json.dumps([0, 1, 2, 3] * 12), "52"),
        ("4" * 52, ""),
        ('{"deal": []}', ""),
    ],
)
def test_bad_files(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text("".join(map(str, [0, 1, 2, 3] * 13)) + "\n" + line + "\n")
    with pytest.raises(DealError, match=r"bad\.jsonl:2: .*" + reason):
        choose_deals(str(path), 1)


def test_bad_sets(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="published-1, published-2, seed, or a"):
        choose_deals("final", 3)
    with pytest.raises(DealError, match="at least 1"):
        choose_deals("development-1", 0)
    with pytest.raises(DealError, match="cannot be read"):
        choose_deals(str(tmp_path / "none.jsonl"), 1)
