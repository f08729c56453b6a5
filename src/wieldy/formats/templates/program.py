"""Chat templates as programs: compiled and run in Jinja's sandbox with the names that their authors count on.

Templates come with the weights and are other people's programs: they see plain JSON values only and cannot reach Python
through them. Deliberately not here: what a template is told (`dialect`), and a limit on how long one may run,
which only a process of its own could enforce.
Source: the environment of `apply_chat_template` in Hugging Face transformers 5.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from jinja2 import TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from wieldy.core.errors import UsageError

FAILURES: Final = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a template raises that refuses its messages, or was written for others.

No `MemoryError`: it says nothing about the messages, and whoever set a limit has to hear that it was reached.
"""


class TemplateProgram:
    """A compiled template.

    Args:
        source: Jinja source, as it stands in the weights.

    Raises:
        UsageError: It is no valid template.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        try:
            self._template = _environment().from_string(source)
        except (TemplateError, RecursionError, SyntaxError) as error:  # Python has its own limit on nested blocks
            raise UsageError(f"The chat template cannot be read: {_reason(error)}.") from error

    @property
    def knows_calls(self) -> bool:
        """Whether the template reads calls at all."""
        return "tool_calls" in self.source

    def run(self, variables: Mapping[str, object], *, now: datetime | None = None) -> str:
        """What the template writes.

        Args:
            variables: Plain JSON values by the names under which the template reads them.
            now: What the template's `strftime_now` says; without it there is no such function, and templates that look
                whether there is one write the date that their authors fixed.

        Raises:
            UsageError: The template refuses these values; the message says why.
        """
        clock = {} if now is None else {"strftime_now": now.strftime}
        try:
            return self._template.render({**clock, **variables})
        except FAILURES as error:
            reason = _reason(error)
            if now is None and "strftime_now" in reason:
                reason = "it asks for the date; pass now="
            raise UsageError(f"The model's chat template refuses these messages: {reason}.") from error


def _reason(error: Exception) -> str:
    """What went wrong, as the end of a sentence."""
    return str(error).rstrip(".") or type(error).__name__


class _Generation(Extension):
    """`{% generation %}` marks what the model itself would write; for rendering it is only a scope."""

    tags: set[str] = {"generation"}  # noqa: RUF012, Jinja declares it so

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        return nodes.Scope(parser.parse_statements(("name:endgeneration",), drop_needle=True), lineno=line)


class _Dictionaries:
    """`dict(...)` without the attributes of a type, which lead out of the sandbox."""

    def __call__(self, *values: Any, **named: Any) -> dict[Any, Any]:
        return dict(*values, **named)

    def fromkeys(self, keys: Any, value: Any = None) -> dict[Any, Any]:
        return dict.fromkeys(keys, value)


class _Namespace(Namespace):
    """`namespace(...)` that holds no name with a leading underscore: those are Python's own."""

    # Positional-only, so that a template may store the name `self`.
    def __init__(self, /, *values: Any, **named: Any) -> None:
        attributes = dict(*values, **named)
        for name in attributes:
            _check_public(name)
        super().__init__(attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_public(name)
        super().__setitem__(name, value)


def _check_public(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a template may not store {name!r}: names with a leading underscore are Python's own")


def _environment() -> ImmutableSandboxedEnvironment:
    environment: Any = ImmutableSandboxedEnvironment(  # Jinja leaves the types of its tables open
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals.update(raise_exception=_refuse, dict=_Dictionaries(), namespace=_Namespace)
    return environment


def _to_json(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    # Jinja's own filter escapes HTML, which no model was trained on.
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _refuse(message: str) -> None:
    raise TemplateError(message)
