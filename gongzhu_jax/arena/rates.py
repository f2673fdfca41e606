"""How often something may happen, and how much of it at a time."""

from collections import Counter, OrderedDict
from collections.abc import Generator
from contextlib import contextmanager

from gongzhu_jax.errors import ArenaError


class Rate:
    """A bucket that fills steadily: `per_second` in the long run, `burst` at once."""

    def __init__(self, per_second: float, burst: float, now: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._level = burst
        self._seen = now

    def take(self, now: float) -> bool:
        """Whether one more may happen now."""
        if self.wait(now) > 0:
            return False
        self._level -= 1
        return True

    def charge(self, amount: float = 1) -> None:
        """Counts what has happened already, also if there was no room for it."""
        self._level -= amount

    def wait(self, now: float) -> float:
        """Seconds until one more may happen."""
        self._level = min(self._burst, self._level + (now - self._seen) * self._per_second)
        self._seen = now
        return max(0.0, (1 - self._level) / self._per_second)


class Rates:
    """A bucket for each of many callers; of those not seen for long, none is kept."""

    def __init__(self, per_second: float, burst: float, callers: int = 10_000) -> None:
        self._per_second = per_second
        self._burst = burst
        self._callers = callers
        self._rates: OrderedDict[str, Rate] = OrderedDict()

    def take(self, caller: str, now: float) -> bool:
        rate = self._rates.pop(caller, None) or Rate(self._per_second, self._burst, now)
        self._rates[caller] = rate
        if len(self._rates) > self._callers:
            self._rates.popitem(last=False)
        return rate.take(now)


class Shares:
    """How many of something each of many holders has at a time, at most `most`."""

    def __init__(self, most: int, code: str, message: str) -> None:
        self._most = most
        self._refusal = code, message
        self._held: Counter[str] = Counter()

    def take(self, holder: str) -> None:
        if not self.has_room(holder):
            raise ArenaError(*self._refusal)
        self._held[holder] += 1

    def has_room(self, holder: str) -> bool:
        return self._held[holder] < self._most

    def give_back(self, holder: str) -> None:
        self._held[holder] -= 1
        if not self._held[holder]:
            del self._held[holder]

    @contextmanager
    def held(self, holder: str) -> Generator[None]:
        """One of them, for as long as the context lasts."""
        self.take(holder)
        try:
            yield
        finally:
            self.give_back(holder)
