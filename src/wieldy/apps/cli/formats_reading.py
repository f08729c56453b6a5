"""A reply that is read in pieces of a given size; what comes out does not depend on the size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wieldy.formats.events import ParseEvent, Reply, reply_of
from wieldy.formats.format import ChatFormat
from wieldy.formats.reading.tool_index import ToolLike


class ReplyText:
    """The text of a reply, or of a whole conversation whose last turn is the reply.

    Args:
        text: If it begins with a turn of the conversation, everything before the last reply is the prompt.
        prompt: What the model was given; None for what the text itself says of it.
        split: How many characters a piece has; None for the whole text at once.

    Attributes:
        start: Where in the text the reply begins; positions and spans count from there.
    """

    def __init__(
        self, format_: ChatFormat, text: str, *, tools: Sequence[ToolLike], prompt: str | None, split: int | None
    ) -> None:
        self.start = 0
        if prompt is None:
            prompt, reply = format_.split_prompt(text)
            self.start = len(text) - len(reply)
            text = reply
        self._text = text
        self._split = split or max(1, len(text))
        self._parser = format_.parser(tools, prompt=prompt)

    def events(self) -> Iterator[ParseEvent]:
        """The events of each piece, and of the end."""
        for begin in range(0, len(self._text), self._split):
            yield from self._parser.feed(self._text[begin : begin + self._split])
        yield from self._parser.close()

    def reply(self) -> Reply:
        """What they all add up to."""
        events = list(self.events())
        return reply_of(events, self._parser.spans)
