"""A request on its way through a replica."""

from __future__ import annotations


class Request:
    """State that changes from step to step; times and counts that outlive it stand in the run's record.

    Attributes:
        index: Its place in the traffic.
        order: Its place in line: class, then arrival.
        context: Tokens whose cache it has or will have once its prompt is done.
        shared: Of these, tokens held by the prefix cache.
        todo: Prompt tokens still to compute.
        steps: Decode steps still to do when it waits; the replica's step count at its end when it decodes.
        seen: Prompt tokens already in its cache.
        started: Whether its first token is out.
        admitted: Its number among the admitted ones; the youngest leaves first.
        copying_s: Time that its cache takes from the host, once.
    """

    __slots__ = (
        "admitted", "arrival_s", "context", "copying_s", "index", "order", "output", "prefix",
        "prefix_tokens", "priority", "prompt", "seen", "shared", "started", "steps", "todo",
    )  # fmt: skip

    def __init__(
        self, index: int, *, arrival_s: float, prompt: float, output: float, priority: float, prefix: int,
        prefix_tokens: float, steps: int,
    ) -> None:  # fmt: skip
        """A request that has just come."""
        self.index, self.arrival_s = index, arrival_s
        self.prompt, self.output = prompt, output
        self.priority, self.order = priority, (priority, arrival_s, index)
        self.prefix, self.prefix_tokens = prefix, prefix_tokens
        self.context, self.shared, self.todo, self.steps = prompt, 0.0, prompt, steps
        self.admitted, self.started, self.copying_s, self.seen = -1, False, 0.0, 0.0
