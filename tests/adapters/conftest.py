"""Pgx mixes types and ranks; the library that the adapters call does not."""

from collections.abc import Iterator

import pytest

from gongzhu_jax.runtime import usual_promotion


@pytest.fixture(scope="module", autouse=True)
def _promotion() -> Iterator[None]:
    with usual_promotion():
        yield
