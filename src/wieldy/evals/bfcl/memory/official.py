"""The benchmark's own rule for answers from memory, its defects included, so that numbers compare.

A listed answer must be in the last text without a call, between two boundaries of words, once case and `,./-_*^()` are
taken away: so 3.8 is 38, "not Michael" is Michael, and what stands in the explanation counts like the answer.
Source: `agentic_checker` of `bfcl_eval` 2026.3.23. Deliberately not here: what was meant (`strict`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

NOT_FOUND: Final = "agentic:answer_not_found"
NO_ANSWER: Final = "agentic:no_last_message"
INFERENCE_ERROR: Final = "agentic:inference_error"

_IGNORED: Final = re.compile(r"[,./\-_*^()]")


def check(answer: str, listed: Iterable[str]) -> str | None:
    """The checker's error for the last text; None if it is right.

    Args:
        answer: What the model said last, without a call; empty if it said nothing.
        listed: The answers that are right.
    """
    if not answer:
        return NO_ANSWER
    found = _plain(answer)
    return None if any(re.search(rf"\b{re.escape(_plain(each))}\b", found) for each in listed) else NOT_FOUND


def _plain(text: str) -> str:
    return _IGNORED.sub("", text).lower().replace("'", '"')
