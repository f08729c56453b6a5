"""Headers of messages: who speaks, to whom, on which channel, and how each is marked.

`HeaderMarks.written` and `HeaderMarks.parsed` undo each other; reading is lenient about everything that models get
wrong and says whether the header was in order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal as OneOfThese
from typing import TypeAlias

from wieldy.formats.nodes.flat import Literal

Channel: TypeAlias = OneOfThese["reasoning", "content"]
"""What is said on a channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a header says.

    Attributes:
        recipient: Whom the message is for; empty for the user.
        channel: Empty if the header has none.
        is_in_order: Whether it is written as a header should be.
    """

    role: str
    recipient: str
    channel: str
    is_in_order: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderMarks:
    """How headers are marked.

    Attributes:
        start: Before a header.
        channel: Before the channel.
        kind: Before the kind of body, which models leave out at will.
        message: Behind a header, before the body.
        ends: Behind a body; the first one is written.
        to: Before the recipient.
        role: The model's role.
        namespace: What the recipient of a call begins with.
        nobody: Recipients that mean the conversation itself.
        json: The kind of a call's body.
    """

    start: Literal
    channel: Literal
    kind: Literal
    message: Literal
    ends: tuple[Literal, ...]
    to: str = " to="
    role: str = "assistant"
    namespace: str = "functions."
    nobody: tuple[str, ...] = ("", "assistant", "user", "all")
    json: str = "json"

    def written(self, header: Header) -> str:
        """The header with the mark that ends it, without the one that begins it."""
        text = header.role
        if header.recipient:
            text += self.to + header.recipient
        text += self.channel.text + header.channel
        if header.recipient:
            text += " " + self.kind.text + self.json
        return text + self.message.text

    def parsed(self, text: str) -> Header:
        """What a header says, without the marks around it; the last channel counts, and the first recipient."""
        # One space says what a thousand do, and expressions need not try them all.
        text = re.sub(r"\s+", " ", text)
        to, channel = re.escape(self.to.strip()), re.escape(self.channel.text)
        role = re.match(r"\s*([^\s<]*)", text)
        recipient = re.search(rf"\s{to}\s*([^\s<]+)", text)
        channels = re.findall(rf"{channel}\s*([\w-]*)", text)
        return Header(
            role="" if role is None else role.group(1),
            recipient="" if recipient is None else recipient.group(1),
            channel=channels[-1] if channels else "",
            is_in_order=self._is_in_order(text),
        )

    def _is_in_order(self, text: str) -> bool:
        to = rf"(?:\s+{re.escape(self.to.strip())}[^\s<]+)?"
        channel = rf"{re.escape(self.channel.text)}[\w-]+{to}"
        kind = rf"\s*(?:{re.escape(self.kind.text)})?\s*[\w.+/-]*\s*"
        return re.fullmatch(rf"[^\s<]*{to}\s*{channel}{kind}", text) is not None

    def called(self, header: Header, known: Sequence[str]) -> str | None:
        """The name of the tool that the message calls; None if it calls none of ours.

        A recipient without the namespace is a call if it is the name of a known tool.
        """
        if header.recipient.startswith(self.namespace):
            return header.recipient.removeprefix(self.namespace) or None
        return header.recipient if header.recipient in known else None
