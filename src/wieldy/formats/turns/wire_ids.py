"""What a call is called on the wire, where a family has a rule for it.

An id that the model wrote and that obeys the rule is kept, so that a conversation is written as it was read. Others,
such as those of another provider, are replaced by one that does; the same call always gets the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from wieldy.core.calls import AnyCall
from wieldy.core.json import digest

WireId: TypeAlias = Callable[[AnyCall, int], str]
"""The id of a call, given how many calls of the conversation came before it."""

_NINE = re.compile(r"[A-Za-z0-9]{9}")
_TEN_SMALL = re.compile(r"[a-z0-9]{10}")
_WHOLE = re.compile(r"[0-9]{1,9}")
_FUNCTION = re.compile(r"functions\.(?P<name>[^\s:]+):[0-9]{1,9}")


def as_given(call: AnyCall, index: int) -> str:
    """The provider's id, or else ours."""
    del index
    return call.provider_id or call.id


def nine_characters(call: AnyCall, index: int) -> str:
    """Nine letters and digits, as Mistral wants them."""
    given = as_given(call, index)
    return given if _NINE.fullmatch(given) else digest(given)[:9]


def ten_characters(call: AnyCall, index: int) -> str:
    """Ten small letters and digits, as Solar Open wants them."""
    given = as_given(call, index)
    return given if _TEN_SMALL.fullmatch(given) else digest(given)[:10]


def counted(call: AnyCall, index: int) -> str:
    """0, 1, 2, ... through the conversation, as Cohere counts."""
    given = call.provider_id
    return given if given is not None and _WHOLE.fullmatch(given) else str(index)


def function_index(call: AnyCall, index: int) -> str:
    """`functions.name:index`, as Kimi K2 counts: through the whole conversation."""
    match = _FUNCTION.fullmatch(call.provider_id or "")
    if match is not None and match["name"] == call.name:
        return match.group()
    return f"functions.{call.name or 'unknown'}:{index}"
