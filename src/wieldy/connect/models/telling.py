"""The prompt says what an answer must be, where nothing else tells the model."""

from __future__ import annotations

from collections.abc import Sequence

from wieldy.core.messages import Message, TextPart
from wieldy.core.outputs import Output, in_words


def told(messages: Sequence[Message], output: Output) -> Sequence[Message]:
    """The messages with the output in words in the first system message; the same if one of them says so already."""
    words = in_words(output)
    if any(words in message.text for message in messages if message.role in ("system", "user")):
        return messages
    first, *rest = messages or [Message.system("")]
    if first.role != "system":
        return [Message.system(words), *messages]
    before = f"{first.text}\n\n" if first.text else ""
    others = tuple(part for part in first.parts if not isinstance(part, TextPart))
    return [Message(role="system", parts=(TextPart(text=before + words), *others)), *rest]
