"""What the arguments of one tool must be: the constraint under which they are written, and what is checked afterwards.

The constraint enforces the tool's schema as far as a mask can. What it leaves, and everything where no constraint can
be made of a schema, is validated, with the repairs that every call gets. Pure. Deliberately not here: what a tool's own
Python types refuse, which only the tool knows; the run tells the model of it as of any other error.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import GrammarError, UsageError
from wieldy.core.json import JsonObject
from wieldy.grammar import Grammar
from wieldy.grammar.compiled import compiled
from wieldy.grammar.shape import Json, Rules
from wieldy.schema import CompiledSchema, coerce, explain, may_change

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentRules:
    """What the arguments of one tool must be.

    Attributes:
        tool_name: Whose they are.
        grammar: How they are written, and the text that follows them.
        schema: What they are validated against; None where the tool's schema cannot be read, so that nothing is known.
    """

    tool_name: str
    grammar: Grammar
    schema: CompiledSchema | None

    @classmethod
    def of(cls, tool: ToolDefinition, *, followed_by: str) -> ArgumentRules:
        """The rules of a tool; where no constraint can be made of its schema, that is logged.

        Raises:
            GrammarError: The engine of constraints is not installed.
        """
        return _rules(tool.name, json.dumps(tool.input_schema), followed_by)

    def error(self, arguments: JsonObject) -> str | None:
        """What is wrong with the arguments, in words for the model; None if they fit as they are or after repairs."""
        if self.schema is None or not may_change(self.schema, arguments):
            return None
        value, _ = coerce(self.schema, arguments)
        violations = self.schema.violations(value)
        # Without an example: a small model would copy its values.
        return explain(violations, subject=f"The arguments of `{self.tool_name}`") if violations else None


@lru_cache(maxsize=256)
def _rules(tool_name: str, schema_text: str, followed_by: str) -> ArgumentRules:
    schema: JsonObject = json.loads(schema_text)
    try:
        # Arguments are an object whatever else the schema allows.
        grammar = _one_line({**schema, "type": "object"})
    except GrammarError as error:
        grammar = _one_line({"type": "object"})
        _LOG.warning("The arguments of %r are only validated, nothing constrains them: %s", tool_name, error)
    return ArgumentRules(tool_name=tool_name, grammar=grammar.followed_by(followed_by), schema=_readable(schema))


def _one_line(schema: JsonObject) -> Grammar:
    return compiled(Rules(start=Json(schema, one_line=True)))


def _readable(schema: JsonObject) -> CompiledSchema | None:
    try:
        return CompiledSchema(schema)
    except UsageError:
        return None
