"""Commands mix types and ranks in their figures; the library that they call does not."""

from collections.abc import Iterator

import pytest

from gongzhu_jax.runtime import usual_promotion


@pytest.fixture(scope="module", autouse=True)
def _promotion() -> Iterator[None]:
    with usual_promotion():
        yield
