"""vLLM: `structured_outputs` with exactly one of json, choice, regex, grammar and structural_tag; strict tools.

Source: vLLM's `StructuredOutputsParams` (0.12 and later; `guided_*` is gone) and `ChatCompletionRequest`, by which a
constraint beside a named tool is refused, and `tool_choice` becomes a constraint of its own that replaces others.
"""

from __future__ import annotations

import json
from typing import Final

from wieldy.connect.models.backends.engines import XGRAMMAR
from wieldy.connect.models.backends.masking import MaskFields, masking_backend
from wieldy.core.json import JsonObject, JsonValue
from wieldy.grammar.notation import to_structural_tag


def _constraint(kind: str, value: JsonValue) -> JsonObject:
    return {"structured_outputs": {kind: value}}


VLLM: Final = masking_backend(
    "vllm",
    "vLLM",
    MaskFields(
        engine=XGRAMMAR,
        reply_engine=XGRAMMAR,
        json=lambda _, schema: _constraint("json", schema),
        choice=lambda options: _constraint("choice", list(options)),
        pattern=lambda pattern: _constraint("regex", pattern),
        reply=lambda rules: _constraint("structural_tag", json.dumps(to_structural_tag(rules))),
    ),
    "`strict` is heard from vLLM 0.25 on, for tool parsers that have a structural tag.",
    "With a chat format, calls are read by the server: start it with --enable-auto-tool-choice and a tool parser.",
)
