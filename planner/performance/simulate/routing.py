"""Which replica a request goes to."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from random import Random

from planner.performance.simulate.replica import Replica
from planner.performance.simulate.request import Request


class Routing(StrEnum):
    """How requests are spread over replicas."""

    RANDOM = "random"
    """By chance, so that every replica has Poisson arrivals of its own where the fleet has, as the closed form takes it."""
    ROUND_ROBIN = "round-robin"
    """One after the other."""
    LEAST_QUEUE = "least-queue"
    """To the one where fewest requests wait for their first token; of equals fewest requests at all, then in turn."""
    PREFIX_AWARE = "prefix-aware"
    """To where the prompt's prefix was sent before, unless that one is much busier than the least busy one."""


class Router:
    """Chooses a replica for each request.

    Args:
        replicas: To choose from, one or more.
        routing: The rule.
        slack_requests: How many more requests than the least busy one a replica may have and still get the requests
            that share its prefixes; for prefix-aware routing.
    """

    def __init__(self, replicas: Sequence[Replica], routing: Routing, *, slack_requests: int = 8) -> None:
        """Nobody was sent anywhere yet."""
        self._replicas, self._routing, self._slack = replicas, routing, slack_requests
        self._next = 0
        self._random = Random(len(replicas))
        self._home: dict[int, Replica] = {}

    def choose(self, request: Request) -> Replica:
        """The replica for a request.

        Args:
            request: With its prefix.
        """
        if len(self._replicas) == 1:
            return self._replicas[0]
        if self._routing is Routing.RANDOM:
            return self._replicas[self._random.randrange(len(self._replicas))]
        if self._routing is Routing.ROUND_ROBIN:
            self._next += 1
            return self._replicas[(self._next - 1) % len(self._replicas)]
        least = self._least_busy()
        if self._routing is Routing.LEAST_QUEUE or request.prefix < 0:
            return least
        home = self._home.get(request.prefix)
        if home is not None and home.requests <= least.requests + self._slack:
            return home
        self._home[request.prefix] = least
        return least

    def _least_busy(self) -> Replica:
        """Shortest line; equals take turns, so that an idle fleet shares the work."""
        self._next += 1
        count, start = len(self._replicas), self._next
        turns = (self._replicas[(start + step) % count] for step in range(count))
        return min(turns, key=lambda replica: (replica.queued(), replica.requests))
