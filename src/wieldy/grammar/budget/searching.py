"""Looking for a completion where the network's first proposal is not what the engine takes.

The network may allow a little more than the engine. So its proposals are tried in the order of their cost: each is
confirmed by the engine, or else what can come instead is tried from there, as far as the engine goes along.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from itertools import islice

from wieldy.grammar.budget.cutting import Cutter
from wieldy.grammar.budget.parts import MAX_BYTES, Piece, joined
from wieldy.grammar.budget.tracker import Standing
from wieldy.grammar.matcher import Matcher

_MAX_PROPOSALS = 200
"""Proposals after which nothing is said to complete the text."""
_MAX_PLACES = 60
_MAX_BEGINNINGS = 60
_MAX_CUT_TOKENS = 10_000
"""How far the search for fewer tokens goes: places in the text, beginnings of tokens at each, and tokens in all."""


class Completions:
    """Completions of texts, cut into tokens and confirmed by the engine.

    Args:
        matcher: Where the text stands for the engine.
        cutter: The vocabulary.
        end_token: What ends a text.
    """

    def __init__(self, matcher: Matcher, cutter: Cutter, *, end_token: int) -> None:
        self._matcher = matcher
        self._cutter = cutter
        self._end_token = end_token

    def confirmed(self, before: tuple[int, ...], standing: Standing) -> tuple[int, ...] | None:
        """Tokens that complete the text after some more tokens; None if none were found."""
        if standing.cost > MAX_BYTES:
            return None
        tokens = self._cutter.cut(standing.completion())
        if tokens is not None and self.completes(before, tokens):
            return tokens
        return self._searched(before, standing)

    def fewest(self, start: Standing) -> tuple[int, ...] | None:
        """Tokens that complete the text, fewer than `confirmed` knows if a further search finds such; None for none.

        Fewest bytes are nearly always cut into the fewest tokens. This looks for a way round by tokens that are longer:
        an option of more letters that is one word, a token that brings a space along.
        Cost: tens of milliseconds; up to a second for grammars with many options.
        """
        best = self.confirmed((), start)
        if best is None:
            return None
        known: dict[Hashable, int] = {start.place: 0}
        waiting: list[tuple[int, int, tuple[int, ...], Standing]] = [(len(best), 0, (), start)]
        for count in range(min(_MAX_PLACES, _MAX_CUT_TOKENS // (len(best) + 1))):
            if not waiting:
                break
            least, _, written, standing = heappop(waiting)
            if least > len(best):
                break
            for token, following in self._next_tokens(standing):
                tokens = (*written, token)
                rest = self._cutter.cut(following.completion()) if following.cost <= MAX_BYTES else None
                if rest is None or known.get(following.place, len(best)) <= len(tokens):
                    continue
                known[following.place] = len(tokens)
                whole = (*tokens, *rest)
                if len(whole) < len(best) and self.completes((), whole):
                    best = whole
                if len(whole) <= len(best):
                    heappush(waiting, (len(whole), count, tokens, following))
        return best

    def _next_tokens(self, start: Standing) -> Iterator[tuple[int, Standing]]:
        """Tokens that may come next, with where the text stands after them: one for bytes that lead to the same."""
        yield from start.next_tokens()
        waiting = [(b"", start)]
        for text, standing in islice(waiting, _MAX_BEGINNINGS):
            for byte, following in standing.next_bytes():
                longer = text + bytes([byte])
                token = self._cutter.id_of(longer)
                if token is not None:
                    yield token, following
                if self._cutter.begins_one(longer):
                    waiting.append((longer, following))

    def completes(self, before: tuple[int, ...], tokens: tuple[int, ...]) -> bool:
        """Whether the engine takes the tokens after some others, and then the end."""
        whole = (*before, *tokens, self._end_token)
        return self._matcher.validate(whole) == len(whole)

    def _searched(self, before: tuple[int, ...], start: Standing) -> tuple[int, ...] | None:
        waiting: list[tuple[int, int, tuple[Piece, ...], Standing]] = [(start.cost, 0, (), start)]
        count = 0
        for _ in range(_MAX_PROPOSALS):
            if not waiting:
                return None
            _, _, written, standing = heappop(waiting)
            tokens = self._cutter.cut(written)
            if tokens is None or self._matcher.validate((*before, *tokens)) < len(before) + len(tokens):
                continue
            whole = self._cutter.cut(joined((*written, *standing.completion())))
            if whole is not None and self.completes(before, whole):
                return whole
            size = sum(len(piece) if isinstance(piece, bytes) else 1 for piece in written)
            ways = [(bytes([byte]), following) for byte, following in standing.next_bytes()]
            for piece, following in (*ways, *standing.next_tokens()):
                if following.cost > MAX_BYTES:
                    continue
                count += 1
                more = joined((*written, piece))
                heappush(waiting, (size + 1 + following.cost, count, more, following))
        return None
