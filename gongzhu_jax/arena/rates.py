"""How often something may happen."""

from collections import OrderedDict


class Rate:
    """A bucket that fills steadily: `per_second` in the long run, `burst` at once."""

    def __init__(self, per_second: float, burst: float, now: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._level = burst
        self._seen = now

    def take(self, now: float) -> bool:
        """Whether one more may happen now."""
        self._level = min(self._burst, self._level + (now - self._seen) * self._per_second)
        self._seen = now
        if self._level < 1:
            return False
        self._level -= 1
        return True


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
