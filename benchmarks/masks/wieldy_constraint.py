"""Wieldy's tool constraint in the format that Hermes and Qwen models write, and the guard over it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from masks.samples import JsonObject, calls, tools
from wieldy.core.calls import ToolChoice
from wieldy.formats import get
from wieldy.grammar import Grammar, Guard, Matcher, Tokenizer, minimum_tokens

OPEN, CLOSE = "<tool_call>", "</tool_call>"


class Subject:
    """Wieldy."""

    package = "wieldy"

    def __init__(self, path: Path) -> None:
        self._tokenizer = Tokenizer.of_json(path.read_text(encoding="utf-8"), end_token=["<|im_end|>", "<|endoftext|>"])
        self._format = get("hermes")
        names = self._format.special_tokens_of(self._tokenizer.special_tokens)
        self._marks = {name: self._tokenizer.special_tokens[name] for name in names}

    def grammar(self, offered: list[JsonObject]) -> Grammar:
        """One call of any of the tools."""
        return self._format.grammar(
            offered,
            tool_choice=ToolChoice(mode="required"),
            at_most=1,
            prompt="",
            tokenizer=self._tokenizer,
            beside=("reasoning",),
        )

    def compiled(self, offered: list[JsonObject]) -> Callable[[], Text]:
        """The constraint over the tools."""
        grammar = self.grammar(offered)
        Matcher(grammar, self._tokenizer)
        return lambda: Text(Matcher(grammar, self._tokenizer), len(self._tokenizer))

    def tokenize(self, call: str) -> list[int]:
        """The call between the marks."""
        return [self._marks[OPEN], *(self._tokenizer.tokenize(f"\n{call}\n".encode()) or ()), self._marks[CLOSE]]

    def more(self) -> JsonObject:
        """What a step with a guard costs: where the budget is wide, and where it is as tight as it can be."""
        offered = tools(30)
        grammar = self.grammar(offered)
        needed = minimum_tokens(grammar, self._tokenizer)
        wide = [step for call in calls(offered) for step in self._guarded(grammar, needed + 1000, self.tokenize(call))]
        tight = [step for seed in range(12) for step in self._guarded(grammar, needed + seed, None, seed=seed)]
        return {"guard_us": {"wide": _summary(wide), "tight": _summary(tight)}, "shortest_tokens": needed}

    def _guarded(self, grammar: Grammar, budget: int, tokens: list[int] | None, *, seed: int = 0) -> list[int]:
        """The time of each step; the likeliest candidates are the tokens, or chance where there are none."""
        guard, chance, times = Guard(grammar, self._tokenizer, max_tokens=budget), random.Random(seed), list[int]()
        for number in range(budget):
            if guard.is_finished or (tokens is not None and number == len(tokens)):
                break
            mask = guard.fill_mask()
            drawn = (chance.randrange(len(self._tokenizer)) for _ in range(2000))
            candidates = (
                tokens[number : number + 1] if tokens else [token for token in drawn if mask.allows(token)][:40]
            )
            start = time.process_time_ns()
            guard.choose(candidates)
            times.append(time.process_time_ns() - start)
        return times


class Text:
    """A text under a matcher."""

    def __init__(self, matcher: Matcher, size: int) -> None:
        self._matcher = matcher
        self._row = bytearray(-(-size // 32) * 4)

    def mask(self) -> object:
        self._matcher.fill_mask_into(self._row)
        return self._row

    def accept(self, token: int) -> bool:
        return self._matcher.accept_token(token)


def _summary(times: list[int]) -> dict[str, Any]:
    ordered = sorted(times)
    return {
        "median": ordered[len(ordered) // 2] / 1e3,
        "p99": ordered[len(ordered) * 99 // 100] / 1e3,
        "count": len(ordered),
    }
