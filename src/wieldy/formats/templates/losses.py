"""What one rendering has lost of the calls that it was told of.

Counted behind what was said before the first call, since the tools on offer are named there too. Deliberately not here:
words beside calls, which many templates leave out of older turns on purpose.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from wieldy.core.calls import AnyCall, InvalidToolCall, ToolCall
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.formats.templates.dialect import AnyTool
from wieldy.formats.templates.probes import missing_of, shared_length
from wieldy.formats.templates.speaker import Change, Speaker, mapped


def losses_of(
    speaker: Speaker, messages: Sequence[Message], text: str, *, tools: Sequence[AnyTool], now: datetime | None
) -> tuple[str, ...]:
    """What of the calls is not in the text behind what was said before the first of them."""
    first = next((index for index, message in enumerate(messages) if message.calls), None)
    if first is None:
        return ()
    try:
        opening = speaker.render(messages[:first], tools=tools, generation_prompt=False, now=now)
    except UsageError:
        opening = ""
    rest = text[shared_length(text, opening) :]
    calls = [call for message in messages for call in message.calls]
    named = Counter(call.name for call in calls if isinstance(call, ToolCall))
    dropped = [
        f"{count - found} of {count} calls of {name!r}"
        for name, count in named.items()
        if (found := rest.count(speaker.plain(name))) < count
    ]
    return (*dropped, *(loss for call in calls if (loss := _loss(call, rest, speaker.plain))))


def _loss(call: AnyCall, text: str, plain: Change) -> str:
    if isinstance(call, InvalidToolCall):
        read = ToolCall(id=call.id, name=call.name or "", arguments={"text": call.text})
    else:
        read = call
    shown = ToolCall(id=call.id, name=plain(read.name), arguments=mapped(read.arguments, plain))
    missing = [piece for piece in missing_of(shown, text) if piece != shown.name]
    return f"{', '.join(repr(piece[:80]) for piece in missing)} of a call of {call.name!r}" if missing else ""
