"""Optional packages: what is said when one of them is not there."""

from collections.abc import Generator
from contextlib import contextmanager

from gongzhu_jax.errors import MissingExtraError


@contextmanager
def needs_extra(extra: str) -> Generator[None]:
    """Wraps the imports of optional packages and says which extra installs them.

    Raises:
      MissingExtraError: one of them is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{error.name} is not installed; install it with: pip install 'gongzhu_jax[{extra}]'"
        ) from None
