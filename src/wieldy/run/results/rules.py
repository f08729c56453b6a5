"""How results are shown to the model, as the program that builds an agent wants it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from wieldy.core.calls import ToolCall
from wieldy.core.errors import UsageError

Summarise: TypeAlias = "Callable[[ToolCall, str], str | Awaitable[str]]"
"""Says in a few words what a long text holds, for the model that made the call."""

CONTENT_LIMIT_BYTES: Final = 16 * 1024
SMALLEST_LIMIT_BYTES: Final = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRules:
    """How results are shown.

    Attributes:
        limit_bytes: How much of one result the model is shown at once, in UTF-8 bytes; the rest can be read by pages.
        summarise: Asked for longer ones, instead of showing their beginning and end. What it is given holds no
            secrets; a function that is not async runs in a thread.
        summary_timeout_s: How long it may take.
        part_limit_bytes: How large one image or file may be.
        parts: How many of them one result may carry.
        redact: Makes of each text of a result what the model may read and the journal may keep, such as one without
            names of persons. What it is given holds no secrets. Where it fails, the text is withheld. What code gets
            as data goes by it; what code returns does not. Images and files are not redacted.

    Raises:
        UsageError: A number is too small.
    """

    limit_bytes: int = CONTENT_LIMIT_BYTES
    summarise: Summarise | None = None
    summary_timeout_s: float = 60.0
    part_limit_bytes: int = 5_000_000
    parts: int = 20
    redact: Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        if self.limit_bytes < SMALLEST_LIMIT_BYTES:
            raise UsageError(f"Expected limit_bytes to be at least {SMALLEST_LIMIT_BYTES}, found {self.limit_bytes}.")
        for name, value in (("part_limit_bytes", self.part_limit_bytes), ("parts", self.parts)):
            if value < 0:
                raise UsageError(f"Expected {name} to be 0 or more, found {value}.")
        if self.summary_timeout_s <= 0:
            raise UsageError(f"Expected summary_timeout_s to be more than 0, found {self.summary_timeout_s:g}.")
