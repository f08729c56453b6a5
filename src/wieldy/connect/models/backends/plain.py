"""Servers that take formats only, or of which nothing is known: `response_format`, tools, or nothing but words.

Sources: Ollama's OpenAI endpoint takes `response_format` and ignores `tool_choice` (ollama#17921); a format there
forbids calls (ollama#11185), and its cloud models pass over it (ollama#12362). LM Studio takes `json_schema` and
refuses `json_object`. DeepSeek and others take `json_object` only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from wieldy.connect.models.backends.dialects import OPENAI as OPENAI_DIALECT
from wieldy.connect.models.backends.engines import LLAMA_CPP, masked
from wieldy.connect.models.backends.openai import strict_answer
from wieldy.connect.models.backends.response_format import json_schema_format
from wieldy.connect.models.backends.shell import in_shell
from wieldy.connect.models.backends.strict import plain_schema
from wieldy.connect.models.backends.taken import Asked, Backend, Reading, Taken
from wieldy.core.json import JsonObject
from wieldy.core.outputs import ChoiceOutput, JsonOutput, Output, schema_of

_MOST_BIAS: Final = 100
_UNKNOWN: Final = "anything that is known: the server may pass over the field"


def _enforced(_: Asked, output: Output) -> Taken:
    sent = masked(schema_of(output), LLAMA_CPP)
    if sent.schema is None:
        return Taken(how="prompt", cannot=sent.cannot)
    answer = plain_schema(sent.schema)
    return Taken(
        how="mask",
        fields=json_schema_format(output, answer.schema, strict=True),
        cannot=sent.cannot,
        reading=Reading(answer=answer, is_quoted=not isinstance(output, JsonOutput)),
    )


def _asked_for(asked: Asked, output: Output) -> Taken:
    """What most servers understand; whether this one keeps to it is not known."""
    biased = _bias(asked, output)
    if biased is not None:
        return biased
    taken = strict_answer(asked, output, dialect=OPENAI_DIALECT)
    return replace(taken, how="soft", cannot=(_UNKNOWN,), is_told=False)


def _bias(asked: Asked, output: Output) -> Taken | None:
    """A preference for the tokens of the options, where each is one token; the model may write on behind it."""
    if not isinstance(output, ChoiceOutput) or asked.token_of is None:
        return None
    tokens = [asked.token_of(option) for option in output.options]
    if any(token is None for token in tokens):
        return None
    return Taken(
        how="soft",
        fields={"logit_bias": {str(token): _MOST_BIAS for token in tokens}},
        cannot=("that nothing follows the option",),
    )


def _json_object(_: Asked, output: Output) -> Taken:
    if not isinstance(output, JsonOutput) or output.schema.get("type") != "object":
        return Taken(how="prompt", cannot=("an answer that is no JSON object",))
    fields: JsonObject = {"response_format": {"type": "json_object"}}
    return Taken(how="soft", fields=fields, cannot=("anything but that it is a JSON object",))


def _left_to_it(asked: Asked) -> Taken:
    return Taken(how="prompt", cannot=tuple(f"{tool.name}: arguments that fit" for tool in asked.tools))


OLLAMA: Final = Backend(
    name="ollama",
    title="Ollama",
    answer=_enforced,
    calls=_left_to_it,
    takes_both="never",
    notes=("`tool_choice` is passed over.", "Models that run in its cloud take a format and do not keep to it."),
)
LM_STUDIO: Final = Backend(name="lm_studio", title="LM Studio", answer=_enforced, calls=_left_to_it, takes_both="never")
JSON_OBJECT: Final = Backend(
    name="json_object",
    title="JSON mode only (DeepSeek and others)",
    answer=_json_object,
    calls=_left_to_it,
    takes_both="never",
)
TOOL_CALLS: Final = Backend(
    name="tool_calls", title="tools only: the shell", answer=in_shell, calls=_left_to_it, takes_both="never"
)
PLAIN: Final = Backend(
    name="plain",
    title="any other",
    answer=_asked_for,
    calls=_left_to_it,
    takes_both="never",
    notes=("A server that refuses the field is asked again without it.",),
)
