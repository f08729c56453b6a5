"""What a run took and why it ended, in the words that all commands use.

Deliberately not here: where such words are shown (`event_view`, `run_view`, `runs_view`).
"""

from __future__ import annotations

import math
from datetime import datetime

from wieldy.core.limits import StopReason, Usage

STOP_WORDS: dict[StopReason, str] = {
    "answered": "the model answered",
    "finished": "the model called `finish`",
    "waiting_for_approval": "a person must decide on a call",
    "turn_limit": "the limit of turns was reached",
    "call_limit": "the limit of calls was reached",
    "output_token_limit": "the limit of output tokens was reached",
    "total_token_limit": "the limit of tokens was reached",
    "cost_limit": "the limit of cost was reached",
    "wall_time_limit": "the limit of time was reached",
    "repeated_call": "the model repeated the same calls",
    "incomplete_output": "the model's answer is not what it must be",
}


def used(*, calls: int, usage: Usage) -> list[str]:
    """What a run used, in words; counts that a server did not tell, and costs that nobody knows, are left out."""
    facts = [counted(calls, "call"), counted(usage.requests, "request")]
    if usage.input_tokens or usage.output_tokens:
        cached = f" ({usage.cached_input_tokens:,} cached)" if usage.cached_input_tokens else ""
        facts.append(f"{usage.input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out")
    if usage.cost_usd:
        facts.append(format_cost(usage.cost_usd))
    return facts


def counted(number: int, noun: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def format_cost(dollars: float) -> str:
    """US dollars, to the cent or, where that says too little, to two digits that count: `$12.50`, `$0.0042`."""
    digits = max(2, 1 - math.floor(math.log10(dollars))) if dollars > 0 else 2
    return f"${dollars:,.{digits}f}"


def format_duration(seconds: float) -> str:
    """A duration in the unit that people would choose."""
    if seconds < 0.0005:
        return "under 1 ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s"


def format_time(seconds: float) -> str:
    """A moment in local time, to the second."""
    try:
        return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, OSError, ValueError):  # no clock says so, but a changed record may
        return f"{seconds} s after 1970"


def sentence(words: str) -> str:
    """The words with a capital letter and a full stop."""
    return words[0].upper() + words[1:] + "."
