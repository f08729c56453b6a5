"""SGLang: `regex` and, in `response_format`, a JSON Schema or a structural tag; strict tools.

Source: SGLang's `ChatCompletionRequest`, by which such a constraint wins over that of the tools. There is no field for
a choice; it is a regular expression.
"""

from __future__ import annotations

from typing import Final

from wieldy.connect.models.backends.engines import XGRAMMAR
from wieldy.connect.models.backends.masking import MaskFields, masking_backend
from wieldy.connect.models.backends.outputs import any_of
from wieldy.connect.models.backends.response_format import json_schema_format
from wieldy.grammar.notation import to_structural_tag

SGLANG: Final = masking_backend(
    "sglang",
    "SGLang",
    MaskFields(
        engine=XGRAMMAR,
        reply_engine=XGRAMMAR,
        json=lambda output, schema: json_schema_format(output, schema, strict=True),
        choice=lambda options: {"regex": any_of(options)},
        pattern=lambda pattern: {"regex": pattern},
        reply=lambda rules: {"response_format": to_structural_tag(rules)},
    ),
    "With a chat format, calls are read by the server: start it with a --tool-call-parser.",
)
