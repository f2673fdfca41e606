"""Deals of a seed are whole and even, and prefixes are stable."""

import numpy as np
import pytest

from gongzhu_jax.errors import ConfigError, DealError
from gongzhu_jax.evaluation.deals import (
    BLOCK,
    random_deals,
)


def test_every_seat_has_13_cards():
    owners = random_deals(5, 300).owners
    for seat in range(4):
        assert ((owners == seat).sum(axis=1) == 13).all()


def test_each_card_goes_everywhere_equally_often():
    owners = random_deals(6, BLOCK).owners
    share = np.stack([(owners == seat).mean(axis=0) for seat in range(4)])
    assert np.abs(share - 0.25).max() < 5 * (0.25 * 0.75 / BLOCK) ** 0.5


def test_longer_sets_start_with_shorter_ones():
    short, long = random_deals(7, 10), random_deals(7, BLOCK + 10)
    np.testing.assert_array_equal(short.owners, long.owners[:10])
    assert len({row.tobytes() for row in long.owners}) == BLOCK + 10
    part = long.part(BLOCK, BLOCK + 5)
    assert part.numbers.tolist() == list(range(BLOCK, BLOCK + 5))
    np.testing.assert_array_equal(part.owners, long.owners[BLOCK : BLOCK + 5])


def test_bad_requests():
    with pytest.raises(DealError, match="at least 1"):
        random_deals(0, 0)
    with pytest.raises(ConfigError, match="seed"):
        random_deals(-1, 3)
