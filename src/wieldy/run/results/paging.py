"""The tool by which a model reads what it was not shown of a long result, page by page.

Law: the pages of a text, one after the other, are the text. Deliberately not here: where whole results are kept (the
journal, by way of the function that is given).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import Field

from wieldy.core.calls import Trust
from wieldy.core.errors import ToolError
from wieldy.run.results.caps import READ_RESULT, beginning
from wieldy.run.results.rules import CONTENT_LIMIT_BYTES
from wieldy.tools import tool
from wieldy.tools.present import Presented

if TYPE_CHECKING:
    from wieldy.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A result with nothing left out.

    Attributes:
        source: Whose words these are.
        trust: Whether strangers may have shaped them.
    """

    text: str
    source: str | None = None
    trust: Trust = "trusted"


WholeOf: TypeAlias = Callable[[str], Whole | str | None]
"""What belongs to a handle; None if nothing does."""


def _no_handles() -> Iterable[str]:
    return ()


def read_result_tool(
    whole_of: WholeOf,
    *,
    handles: Callable[[], Iterable[str]] = _no_handles,
    limit_bytes: int = CONTENT_LIMIT_BYTES,
) -> Tool:
    """The tool; making one is cheap, so that a run can make its own.

    Args:
        whole_of: Finds a result; one that strangers may have shaped is shown as such, page by page.
        handles: Those that there are, for a model that asks for another one.
        limit_bytes: How much of a text one page holds, in UTF-8 bytes.
    """

    def read_result(handle: str, offset: int = 0, length: int | None = None) -> Presented:
        handle = handle.strip().strip("\"'`")
        found = whole_of(handle)
        if found is None:
            raise ToolError(_no_such(handle, tuple(handles())))
        whole = Whole(text=found) if isinstance(found, str) else found
        return _page(whole, handle, offset=offset, length=length, limit_bytes=limit_bytes)

    return replace(_declared(), function=read_result)


@cache
def _declared() -> Tool:
    @tool(name=READ_RESULT, effect="read")
    def read_result(
        handle: str,
        offset: Annotated[int, Field(ge=0)] = 0,
        length: Annotated[int, Field(ge=1)] | None = None,
    ) -> Presented:
        """Read more of a result that was too long to be shown whole.

        Args:
            handle: Names the result; it stands where the result was cut.
            offset: The first character to read, counted from 0.
            length: How many characters to read; as many as can be shown at once if left out.
        """
        raise NotImplementedError

    return read_result


def _page(whole: Whole, handle: str, *, offset: int, length: int | None, limit_bytes: int) -> Presented:
    total = len(whole.text)
    if offset >= total:
        raise ToolError(
            f'Expected an offset from 0 to {total - 1}, because the result "{handle}" has {total} characters; '
            f"found {offset}."
        )
    end = total if length is None else min(total, offset + length)
    text = beginning(whole.text[offset : min(end, offset + limit_bytes)], limit_bytes)
    end = offset + len(text)
    left = f"{total - end} are left; the next offset is {end}" if end < total else "this is the end of it"
    return Presented(
        text=text,
        source=whole.source,
        trust=whole.trust,
        note=f'Characters {offset} to {end} of {total} of the result "{handle}"; {left}.',
    )


def _no_such(handle: str, handles: tuple[str, ...]) -> str:
    names = ", ".join(f'"{name}"' for name in handles)
    known = f"The handles are {names}." if names else "Use one that stands where a result was cut."
    return f'There is no result with the handle "{handle[:80]}". {known}'
