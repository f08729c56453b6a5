"""What a provider makes of tools: `report(tools, "gemini")` says of each what is kept, rewritten and lost there.

A dialect is the part of JSON Schema that a provider enforces. Nothing is sent: shown is the translation that requests
carry, and for Gemini, which no module here asks, the one that a request would need. Below: `backends`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from wieldy.connect.models.backends import dialects
from wieldy.connect.models.backends.engines import LLAMA_CPP, XGRAMMAR, Engine, masked
from wieldy.connect.models.backends.parts import ASSERTIONS
from wieldy.connect.models.backends.strict import strict_schema
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.grammar.enforcement import Enforcement
from wieldy.schema import nearest_names
from wieldy.schema.resolve import pointer
from wieldy.schema.rewrite import subschemas
from wieldy.tools import Toolset

if TYPE_CHECKING:
    from wieldy.core.calls import ToolDefinition

_SAYING: Final = ASSERTIONS | {"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInDialect:
    """What becomes of one tool.

    Attributes:
        tool: Its name.
        schema: Its arguments, as the provider gets and enforces them; None where it has no form for them.
        kept: The keywords that are enforced as they are, each with the pointer of its schema.
        rewritten: What is enforced and says less than the tool does.
        lost: What nothing enforces while the model writes; arguments are validated afterwards.
        refused: Why there is no form.
    """

    tool: str
    schema: JsonObject | None
    kept: tuple[tuple[str, str], ...]
    rewritten: tuple[Enforcement, ...]
    lost: tuple[Enforcement, ...]
    refused: tuple[Enforcement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectReport:
    """What becomes of tools in one dialect.

    Attributes:
        dialect: Its name, one of `NAMES`.
        tools: In the order in which they were given.
    """

    dialect: str
    tools: tuple[ToolInDialect, ...]

    @property
    def whole(self) -> tuple[ToolInDialect, ...]:
        """The tools of which everything is enforced."""
        return tuple(each for each in self.tools if not each.lost and not each.refused)

    @property
    def without_form(self) -> tuple[ToolInDialect, ...]:
        """The tools that the provider can only be sent without enforcing them, or not at all."""
        return tuple(each for each in self.tools if each.refused)


_Translation: TypeAlias = "tuple[JsonObject | None, tuple[Enforcement, ...]]"


def _strict(dialect: dialects.SchemaDialect) -> Callable[[JsonObject], _Translation]:
    def translated(schema: JsonObject) -> _Translation:
        strict = strict_schema(schema, dialect)
        return (None if strict.refused else strict.schema), strict.report

    return translated


def _masked(engine: Engine) -> Callable[[JsonObject], _Translation]:
    def translated(schema: JsonObject) -> _Translation:
        found = masked(schema, engine)
        return found.schema, found.report

    return translated


_TRANSLATIONS: Final = {
    "openai-strict": _strict(dialects.OPENAI),
    "azure-strict": _strict(dialects.AZURE),
    "anthropic": _strict(dialects.ANTHROPIC),
    "gemini": _strict(dialects.GEMINI),
    "gemini-openapi": _strict(dialects.GEMINI_OPENAPI),
    "llama.cpp": _masked(LLAMA_CPP),
    "xgrammar": _masked(XGRAMMAR),
}
NAMES: Final = tuple(_TRANSLATIONS)
"""`gemini` is what `parametersJsonSchema` takes, `gemini-openapi` the older `parameters`."""


def report(tools: Toolset | Iterable[ToolDefinition], dialect: str) -> DialectReport:
    """What becomes of the tools' arguments in a dialect.

    Args:
        tools: A toolset, which is open if it learns its tools by that, or definitions.
        dialect: One of `NAMES`.

    Raises:
        UsageError: There is no such dialect.
    """
    check_dialect(dialect)
    definitions = tools.definitions if isinstance(tools, Toolset) else tools
    return DialectReport(dialect=dialect, tools=tuple(_in_dialect(tool, dialect) for tool in definitions))


def check_dialect(dialect: str) -> None:
    """Nothing, if there is such a dialect.

    Raises:
        UsageError: There is none; the text names those that there are.
    """
    if dialect not in _TRANSLATIONS:
        near = nearest_names(dialect, NAMES, most=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"Expected a dialect of {', '.join(NAMES)}; found {dialect!r}.{hint}")


def _in_dialect(tool: ToolDefinition, dialect: str) -> ToolInDialect:
    schema, told = _TRANSLATIONS[dialect](tool.input_schema)
    told = tuple(dict.fromkeys(told))
    refused = tuple(entry for entry in told if entry.by == "refused")
    return ToolInDialect(
        tool=tool.name,
        schema=schema,
        kept=() if refused else _kept(tool.input_schema, told),
        rewritten=tuple(entry for entry in told if entry.by == "mask"),
        lost=tuple(entry for entry in told if entry.by == "validator"),
        refused=refused,
    )


def _kept(schema: JsonObject, told: Iterable[Enforcement]) -> tuple[tuple[str, str], ...]:
    """The keywords of which nothing is told; nor of their like in a schema that was written anew, for an engine."""
    said = [(pointer(place), keyword) for place, part in subschemas(schema) for keyword in part if keyword in _SAYING]
    spoken_of = {(entry.pointer, entry.keyword) for entry in told}
    anew = {entry.keyword for entry in told if entry.by == "validator" and (entry.pointer, entry.keyword) not in said}
    return tuple(each for each in said if each not in spoken_of and each[1] not in anew)
