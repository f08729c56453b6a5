"""OpenAI, and the same on Azure: strict response formats and strict tools, in a dialect of JSON Schema.

Answers and calls may be asked for at once: the format holds for the text of an answer only. Choices and patterns travel
as the one property of an object. Custom tools with a grammar are not used: a `pattern` in a strict schema says the
same, and every model takes it.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from wieldy.connect.models.backends.dialects import AZURE as AZURE_DIALECT
from wieldy.connect.models.backends.dialects import OPENAI as OPENAI_DIALECT
from wieldy.connect.models.backends.dialects import SchemaDialect
from wieldy.connect.models.backends.response_format import json_schema_format
from wieldy.connect.models.backends.strict import plain_schema, strict_schema
from wieldy.connect.models.backends.strict_tools import strict_calls
from wieldy.connect.models.backends.taken import Asked, Backend, Reading, Taken
from wieldy.core.outputs import JsonOutput, Output, schema_of


def strict_answer(_: Asked, output: Output, *, dialect: SchemaDialect) -> Taken:
    """The output as a response format: strict where the dialect has a form for it, else only asked for."""
    is_quoted = not isinstance(output, JsonOutput)
    strict = strict_schema(schema_of(output), dialect)
    if strict.refused:
        plain = plain_schema(schema_of(output))
        return Taken(
            how="soft",
            fields=json_schema_format(output, plain.schema, strict=False),
            cannot=tuple(map(str, strict.refused)),
            reading=Reading(answer=plain, is_quoted=is_quoted),
            is_told=True,
        )
    return Taken(
        how="native",
        fields=json_schema_format(output, strict.schema, strict=True),
        cannot=tuple(map(str, strict.unenforced)),
        reading=Reading(answer=strict, is_quoted=is_quoted),
        is_told=True,
    )


OPENAI: Final = Backend(
    name="openai",
    title="OpenAI",
    answer=partial(strict_answer, dialect=OPENAI_DIALECT),
    calls=partial(strict_calls, dialect=OPENAI_DIALECT),
    takes_both="always",
    notes=("Calls that are made at once may depart from their schemas, by OpenAI's own account.",),
)
AZURE: Final = Backend(
    name="azure",
    title="OpenAI on Azure",
    answer=partial(strict_answer, dialect=AZURE_DIALECT),
    calls=partial(strict_calls, dialect=AZURE_DIALECT),
    takes_both="always",
    notes=OPENAI.notes,
)
