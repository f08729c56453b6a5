"""One chat template, told of conversations in one dialect.

The only place where messages become the variables of a template's program. Deliberately not here: which dialect a
template wants (`search`), and what it has lost (`template`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias, cast

from wieldy.core.messages import Message
from wieldy.formats.templates.dialect import AnyTool, Dialect, messages_written, tools_written
from wieldy.formats.templates.program import TemplateProgram

Change: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """A template's program and how it is spoken to.

    Attributes:
        plain: Makes a text of others, in messages and tools, harmless.
        tokens: The named tokens that the template writes itself.
    """

    program: TemplateProgram
    dialect: Dialect
    plain: Change
    tokens: Mapping[str, str]
    variables: Mapping[str, object] = field(default_factory=dict[str, object])

    def render(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[AnyTool],
        generation_prompt: bool,
        lossy: bool = True,
        now: datetime | None = None,
    ) -> str:
        """The conversation as text, whatever the template loses of it: it knows no other way than `lossy`.

        Raises:
            UsageError: The template refuses these messages.
        """
        shown = tools_written(tools, self.dialect) or None
        variables = {
            "documents": None,
            **self.tokens,
            **self.variables,
            "messages": [
                {**mapped(message, self.plain), "role": message["role"]}
                for message in messages_written(messages, self.dialect)
            ],
            "tools": mapped(shown, self.plain),
            "add_generation_prompt": generation_prompt,
        }
        return self.program.run(variables, now=now)


def mapped(value: Any, change: Change) -> Any:
    """The JSON value with every text in it changed, names in objects too: they may be others' words as well."""
    match value:
        case str():
            return change(value)
        case list():
            return [mapped(item, change) for item in cast("list[Any]", value)]
        case dict():
            return {change(name): mapped(item, change) for name, item in cast("dict[str, Any]", value).items()}
        case _:
            return value
