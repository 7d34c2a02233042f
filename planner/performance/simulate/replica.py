"""One replica: a queue, a batch, a cache, and steps whose dull stretches are skipped."""

from __future__ import annotations

import math
from collections import deque
from heapq import heapify, heappop, heappush

from planner.performance.simulate.engine import Engine, Eviction, Schedule
from planner.performance.simulate.prefixes import PrefixCache
from planner.performance.simulate.record import Record
from planner.performance.simulate.request import Request

INFINITE = math.inf


class Replica:
    """Runs steps one after the other; `until_s` is when the present stretch of them ends.

    A stretch is one step where prompts are computed, or as many decode steps as pass before somebody finishes or the
    cache is full; a request that comes meanwhile and can be let in ends it after the step that runs.

    Attributes:
        until_s: End of the present stretch, infinite while idle.
        requests: Requests here, waiting ones included.
    """

    __slots__ = (
        "_admissions", "_context_sum", "_decodes", "_decoding", "_engine", "_filling", "_held", "_pause_s", "_planned",
        "_prefixes", "_record", "_reserves", "_running", "_start_s", "_step_s", "_steps", "_steps_done", "_waiting", "number",
        "requests", "until_s",
    )  # fmt: skip

    def __init__(self, number: int, engine: Engine, record: Record) -> None:
        """An idle replica."""
        self.number, self._engine, self._record = number, engine, record
        self.until_s, self.requests = INFINITE, 0
        self._reserves = engine.eviction is Eviction.RESERVE
        self._waiting: list[tuple[tuple[float, float, int], Request]] = []
        self._filling: deque[Request] = deque()
        self._decoding: list[tuple[int, int, Request]] = []
        self._planned: list[tuple[Request, float]] = []
        self._running: dict[int, Request] = {}
        self._prefixes = PrefixCache()
        self._decodes = self._steps = self._steps_done = self._admissions = 0
        self._context_sum = self._held = self._start_s = self._step_s = self._pause_s = 0.0

    def queued(self) -> int:
        """Requests that still wait for their first token here."""
        return len(self._waiting) + len(self._filling)

    def push(self, request: Request, now_s: float) -> None:
        """A request comes."""
        self.requests += 1
        self._record.replica[request.index] = self.number
        heappush(self._waiting, (request.order, request))
        if self.until_s == INFINITE:
            self._plan(now_s)
        elif self._steps > 1 and self._room_for(self._waiting[0][1]):
            done = max(1, math.ceil((now_s - self._start_s) / self._step_s - 1e-9))
            if done < self._steps:
                self._steps = done
                self.until_s = self._start_s + done * self._step_s

    def advance(self) -> list[Request]:
        """End the stretch that runs and begin the next; returns requests that are finished."""
        now = self.until_s
        done: list[Request] = []
        if self._decodes:
            tokens = self._engine.tokens_per_step * self._steps * self._decodes
            self._context_sum += tokens
            if not self._reserves:
                self._held += tokens
            self._steps_done += self._steps
            decoding = self._decoding
            while decoding and decoding[0][0] <= self._steps_done:
                finished = heappop(decoding)[2]
                self._leave(finished, now)
                done.append(finished)
        for request, tokens in self._planned:
            self._fill(request, tokens, now, done)
        self._record.most_held_tokens = max(self._record.most_held_tokens, self._held + self._prefixes.tokens)
        self._plan(now)
        return done

    def _leave(self, request: Request, now_s: float) -> None:
        """The last token is out."""
        self._record.finish_s[request.index] = now_s
        self._forget(request)
        self.requests -= 1

    def _forget(self, request: Request) -> None:
        """Give its memory back; it decodes until now, or has only just filled its prompt."""
        if request.todo == 0.0 and request.started:
            context = self._context_now(request)
            self._context_sum -= context
            self._held -= self._own(request, request.context if self._reserves else context)
        else:
            self._held -= self._own(request, self._at_admission(request))
        if request.shared:
            self._prefixes.release(request.prefix)
        del self._running[request.admitted]

    def _own(self, request: Request, context: float) -> float:
        """Tokens that a request's own blocks hold, the last block full."""
        return context - request.shared + self._engine.block_tokens - 1.0

    def _at_admission(self, request: Request) -> float:
        """Tokens that are set aside for a request that is let in."""
        later = request.steps * self._engine.tokens_per_step if self._reserves else 0.0
        return request.context + later

    def _context_now(self, request: Request) -> float:
        """Tokens in the cache of a request that decodes."""
        left = request.steps - self._steps_done
        return request.context - left * self._engine.tokens_per_step

    def _fill(self, request: Request, tokens: float, now_s: float, done: list[Request]) -> None:
        """Prompt tokens are computed; after the last one the first token is out and decoding begins."""
        request.todo -= tokens
        request.seen += tokens
        self._record.prefilled_tokens[request.index] += tokens
        if request.todo > 0.0:
            return
        self._filling.remove(request)
        engine = self._engine
        if self._record.first_s[request.index] == 0.0:
            self._record.first_s[request.index] = now_s
        if engine.prefix_caching and request.prefix >= 0 and request.shared == 0.0:
            self._share(request)
        self._begin_decode(request)
        if request.steps <= self._steps_done:
            self._leave(request, now_s)
            done.append(request)

    def _share(self, request: Request) -> None:
        """Its prefix moves from its own blocks into the shared ones, unless they are there by now."""
        before = self._prefixes.tokens
        self._prefixes.keep(request.prefix, request.prefix_tokens)
        if self._prefixes.tokens > before:
            request.shared = self._prefixes.tokens - before
            self._held -= request.shared
            self._prefixes.use(request.prefix)

    def _begin_decode(self, request: Request) -> None:
        """From here on `steps` is the step count at its end, and `context` its tokens then."""
        request.started = True
        steps, per_step = request.steps, self._engine.tokens_per_step
        self._context_sum += request.context
        request.context += steps * per_step
        request.steps = self._steps_done + steps
        if steps:
            heappush(self._decoding, (request.steps, request.index, request))

    def _decoding_count(self) -> int:
        return len(self._running) - len(self._filling)

    def _free(self) -> float:
        return self._engine.cache_tokens - self._held - self._prefixes.tokens

    def _room_for(self, request: Request) -> bool:
        """Whether a waiting request could be let in now."""
        engine = self._engine
        if len(self._running) >= engine.batch_sequences:
            return False
        needed = self._needed(request)
        free = self._free()
        if free < needed and self._prefixes.tokens:
            free += self._prefixes.idle_tokens(request.prefix)
            needed -= self._found(request)
        # An empty replica takes whoever comes: a run refuses requests that can't fit at all before it starts.
        return free >= needed or not self._running

    def _needed(self, request: Request) -> float:
        """Tokens that must be free for a request to be let in."""
        needed = self._own(request, self._at_admission(request))
        # One step's growth of those that run stays free, or it would evict at once.
        growth = 0.0 if self._reserves else (len(self._running) + 1) * self._engine.tokens_per_step
        return needed + growth

    def _admit(self) -> Request:
        """Let the first in line in."""
        request = heappop(self._waiting)[1]
        engine, record = self._engine, self._record
        request.admitted = self._admissions
        self._admissions += 1
        self._running[request.admitted] = request
        if request.started:
            self._pause_s += request.copying_s
        else:
            record.started_s[request.index] = self._start_s
            self._pause_s += engine.request_host_s
        self._hit(request)
        own = self._own(request, self._at_admission(request))
        short = self._needed(request) - self._free()
        if short > 0.0 and self._prefixes.tokens:
            self._prefixes.shrink(short)
        self._held += own
        return request

    def _found(self, request: Request) -> float:
        """Tokens that the prefix cache has for a request; at least the last prompt token is computed."""
        if not self._engine.prefix_caching or request.prefix < 0:
            return 0.0
        there = self._prefixes.hit_tokens(request.prefix, request.prefix_tokens)
        return max(0.0, min(there, request.todo - 1.0))

    def _hit(self, request: Request) -> None:
        """Take what the prefix cache has."""
        found = self._found(request)
        if found > 0.0:
            request.shared = request.seen = found
            request.todo -= found
            self._record.hit_tokens[request.index] += found
            self._prefixes.use(request.prefix)

    def _plan(self, now_s: float) -> None:
        """Choose the next stretch, or fall idle."""
        self._start_s = now_s
        engine = self._engine
        evicted = self._make_room() if self._decoding else False
        self._planned = []
        decodes = self._decoding_count()
        budget = engine.step_tokens - decodes if engine.schedule is Schedule.MIXED else engine.step_tokens
        taken, seen = self._take_prompts(budget, admit=not evicted)
        # A swapped request that came back decodes at once.
        decodes = self._decoding_count()
        if taken and engine.schedule is Schedule.PREFILL_FIRST:
            self._set(0, 1, engine.table.step_s(0, 0.0, taken, seen))
        elif taken:
            context = self._context_sum / decodes if decodes else 0.0
            self._set(decodes, 1, engine.table.step_s(decodes, context, taken, seen))
        elif decodes:
            steps = self._decode_stretch(decodes)
            context = self._context_sum / decodes + (steps - 1) / 2.0 * engine.tokens_per_step
            self._set(decodes, steps, engine.table.step_s(decodes, context))
        else:
            self._decodes, self.until_s = 0, INFINITE

    def _set(self, decodes: int, steps: int, step_s: float) -> None:
        """Copying and the host's work on new requests come before the stretch's steps."""
        self._decodes, self._steps, self._step_s = decodes, steps, step_s
        self._start_s += self._pause_s
        self._pause_s = 0.0
        self.until_s = self._start_s + steps * step_s

    def _decode_stretch(self, decodes: int) -> int:
        """Steps until somebody finishes or the cache is full."""
        steps = self._decoding[0][0] - self._steps_done
        if self._reserves:
            return steps
        growth = decodes * self._engine.tokens_per_step
        room = self._free()
        return steps if room >= steps * growth else max(1, int(room / growth))

    def _take_prompts(self, budget: float, *, admit: bool) -> tuple[float, float]:
        """Fill the step's budget with prompts, oldest first; returns tokens and how many each sees in the mean."""
        taken = seen = 0.0
        chunked = self._engine.chunked
        for request in self._filling:
            if budget - taken < 1.0:
                break
            taken, seen = self._take(request, budget, taken, seen)
        while admit and self._waiting and budget - taken >= 1.0:
            first = self._waiting[0][1]
            if not chunked and taken and first.todo > budget - taken:
                break
            if not self._room_for(first):
                break
            request = self._admit()
            if request.todo == 0.0:
                self._resume(request)
                continue
            self._filling.append(request)
            taken, seen = self._take(request, budget, taken, seen)
        return taken, seen / taken if taken else 0.0

    def _take(self, request: Request, budget: float, taken: float, seen: float) -> tuple[float, float]:
        tokens = min(request.todo, budget - taken) if self._engine.chunked else request.todo
        self._planned.append((request, tokens))
        return taken + tokens, seen + tokens * (request.seen + tokens / 2.0)

    def _resume(self, request: Request) -> None:
        """A request whose cache came from elsewhere decodes at once."""
        if self._record.started_s[request.index] == 0.0:
            self._record.started_s[request.index] = self._start_s
        self._begin_decode(request)
        if request.steps <= self._steps_done:
            # an answer of one token, written where its prompt was computed
            self._leave(request, self._start_s)

    def _make_room(self) -> bool:
        """Evict until every running request can grow by one step; whoever left isn't let in again at once."""
        if self._reserves:
            return False
        evicted = False
        while len(self._running) > 1:
            needed = self._decoding_count() * self._engine.tokens_per_step
            short = needed - self._free()
            if short > 0.0 and self._prefixes.tokens:
                self._prefixes.shrink(short)
                short = needed - self._free()
            if short <= 0.0:
                return evicted
            self._evict(max(self._running.values(), key=lambda one: (one.priority, one.admitted)))
            evicted = True
        return evicted

    def _evict(self, request: Request) -> None:
        """Send a request back to the line with its answer so far."""
        self._record.evictions[request.index] += 1
        if request.todo > 0.0 or not request.started:
            self._forget(request)
            self._filling.remove(request)
            tokens = request.context
            request.todo = tokens
        else:
            tokens = self._context_now(request)
            steps = request.steps - self._steps_done
            self._forget(request)
            self._decoding = [entry for entry in self._decoding if entry[2] is not request]
            heapify(self._decoding)
            request.context, request.steps = tokens, steps
            if self._engine.eviction is Eviction.SWAP:
                request.copying_s = (tokens - request.shared) * self._engine.swap_s_per_token
                self._pause_s += request.copying_s
            else:
                request.todo = tokens
        request.shared = request.seen = 0.0
        heappush(self._waiting, (request.order, request))
