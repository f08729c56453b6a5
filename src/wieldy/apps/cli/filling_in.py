"""Questions of a server to the person at the terminal: whether to answer at all, then one line for each thing asked.

What a server asks is a stranger's words, and shown as such. Where nobody sits there the answer is no. Deliberately not
here: whether calls may run (`asking`).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Final, cast

from rich.text import Text

from wieldy.apps.cli.asking import can_ask, read_line
from wieldy.apps.cli.failures import note
from wieldy.apps.cli.terminal import err, out
from wieldy.apps.cli.untrusted import neutralise, one_line
from wieldy.schema import CompiledSchema, coerce, describe, explain

if TYPE_CHECKING:
    from wieldy.connect.mcp.client.questions import Question
    from wieldy.core.json import JsonObject, JsonValue

_YES: Final = ("y", "yes")


class FillingIn:
    """Asks on the terminal, if somebody sits there.

    Args:
        before_question: Called before anything is printed.
    """

    def __init__(self, before_question: Callable[[], None]) -> None:
        self._before_question = before_question

    async def __call__(self, question: Question) -> JsonObject | None:
        """What the person filled in; None for no."""
        self._before_question()
        who = "The MCP server" if question.server is None else f"The MCP server {question.server!r}"
        asks = f"{who} asks: {question.message}" + (f" Go to {question.url}" if question.url else "")
        if not can_ask():
            note(f"{asks}\nNobody can be asked because standard input is no terminal, so it was declined.")
            return None
        terminal = out() if out().is_terminal and not err().is_terminal else err()
        terminal.block(Text(neutralise(asks), style="bold"), first="? ", rest="  ")
        terminal.write("  Answer it? [y/N] ")
        if (await read_line()).strip().casefold() not in _YES:
            return None
        return {} if question.schema is None else await self._fields(question.schema)

    async def _fields(self, schema: JsonObject) -> JsonObject:
        compiled = CompiledSchema(schema)
        while True:
            filled = {name: value async for name, value in _lines(schema)}
            mended, _ = coerce(compiled, filled)
            violations = compiled.violations(mended)
            if not violations:
                return cast("JsonObject", mended)
            err().write(f"  {neutralise(explain(violations, subject='Your answers'))}\n")


async def _lines(schema: JsonObject) -> AsyncIterator[tuple[str, JsonValue]]:
    """What the person says to each property; what they leave empty is left out."""
    properties = schema.get("properties")
    for name, part in properties.items() if isinstance(properties, dict) else ():
        known = part if isinstance(part, dict) else {}
        about = known.get("description") or known.get("title") or describe(schema, ("properties", name))
        otherwise = f" [{json.dumps(known['default'])}]" if "default" in known else ""
        err().write(f"  {one_line(f'{name} ({about}){otherwise}', limit=200)}: ")
        said = (await read_line()).rstrip("\r\n")
        if said:
            yield name, said
        elif "default" in known:
            yield name, known["default"]
