"""Shared prefixes that stay in a replica's cache, the longest unused one leaving first."""

from __future__ import annotations

from collections import OrderedDict


class PrefixCache:
    """Prefixes by name, with their tokens and the running requests that use them.

    >>> cache = PrefixCache()
    >>> cache.keep(7, 100.0)
    >>> cache.hit_tokens(7, 60.0), cache.hit_tokens(8, 60.0), cache.tokens
    (60.0, 0.0, 100.0)
    >>> cache.shrink(1.0)
    >>> cache.tokens
    0.0
    """

    __slots__ = ("_resident", "_users", "tokens")

    def __init__(self) -> None:
        """Nothing is cached."""
        self._resident: OrderedDict[int, float] = OrderedDict()
        self._users: dict[int, int] = {}
        self.tokens = 0.0

    def hit_tokens(self, prefix: int, tokens: float) -> float:
        """Tokens of a prompt's prefix that are there."""
        return min(tokens, self._resident.get(prefix, 0.0))

    def use(self, prefix: int) -> None:
        """A running request reads it, so it can't leave."""
        self._users[prefix] = self._users.get(prefix, 0) + 1
        self._resident.move_to_end(prefix)

    def release(self, prefix: int) -> None:
        """A request that used it is done."""
        self._users[prefix] -= 1

    def keep(self, prefix: int, tokens: float) -> None:
        """It was computed and stays; what is there already isn't held twice."""
        if tokens > self._resident.get(prefix, 0.0):
            self.tokens += tokens - self._resident.get(prefix, 0.0)
            self._resident[prefix] = tokens

    def idle_tokens(self, but: int = -1) -> float:
        """Tokens that nobody uses, which memory pressure can take.

        Args:
            but: A prefix that is about to be used.
        """
        return sum(size for name, size in self._resident.items() if name != but and not self._users.get(name))

    def shrink(self, tokens: float) -> None:
        """Let go of the longest unused prefixes until so many tokens are free or none is left to take."""
        freed = 0.0
        for name in [name for name in self._resident if not self._users.get(name)]:
            if freed >= tokens:
                break
            freed += self._resident[name]
            self.tokens -= self._resident.pop(name)
