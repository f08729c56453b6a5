"""Finds out in which dialect a chat template is to be told of calls: by telling it of one in each.

Deliberately not here: what a template leaves out whatever it is told (`faults`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Final

from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.formats.templates.dialect import Dialect
from wieldy.formats.templates.probes import ONE_CALL, PROBE_TIME, RendersMessages, holds_calls, question, reply_text

_INSTRUCTION: Final = "Answer as briefly as you can."
_SHOWN: Final = 4
_RIGHT: Final = 7
"""The call is there, its arguments neither as text within JSON nor in Python's spelling of a dictionary."""


def find_dialect(speaking: Callable[[Dialect], RendersMessages], *, with_calls: bool) -> Dialect:
    """The dialect in which the template shows a system message, a user's words and a call; the usual one otherwise.

    Cost: a handful of renderings for most templates, about 80 for one that shows no calls.

    Args:
        speaking: The template, told of everything in the dialect.
        with_calls: Whether the template knows of calls at all.
    """
    plain = next((dialect for dialect in _plain_dialects() if _shows_words(speaking(dialect), dialect)), Dialect())
    if not with_calls:
        return plain
    best, best_score = plain, _SHOWN - 1
    for dialect in _call_dialects(plain):
        score = _score(speaking(dialect))
        if score > best_score:
            best, best_score = dialect, score
        if score == _RIGHT:
            break
    return best


def _plain_dialects() -> Iterator[Dialect]:
    return (Dialect(parts=parts, system=system) for system, parts in product((True, False), (False, True)))


def _call_dialects(plain: Dialect) -> Iterator[Dialect]:
    for tools, call_ids in product(("wrapped", "bare"), ("any", "nine", "named")):
        for empty_content, arguments in product(("empty", "missing", "null"), ("object", "text")):
            yield replace(plain, tools=tools, call_ids=call_ids, empty_content=empty_content, arguments=arguments)


def _shows_words(template: RendersMessages, dialect: Dialect) -> bool:
    messages = [Message.system(_INSTRUCTION), question()]
    try:
        text = template.render(messages, tools=(), generation_prompt=True, lossy=True, now=PROBE_TIME)
    except UsageError:
        return False
    # Some templates print a list of parts as Python writes it: the words are there, and so is what nobody said.
    return _INSTRUCTION in text and question().text in text and "'type'" not in text


def _score(template: RendersMessages) -> int:
    try:
        text = reply_text(template, ONE_CALL).text
    except UsageError:
        return 0
    if not holds_calls(text, ONE_CALL.calls):
        return 0
    return _SHOWN + 2 * ('{\\"city' not in text) + ("{'city" not in text)
