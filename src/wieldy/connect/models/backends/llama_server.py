"""llama-server: `grammar` in GBNF, and a JSON Schema in `response_format`.

A grammar of the request holds from the first token on, also where a model would think first: reasoning is then not
told apart (`reasoning_format`), or the text of the answer would be taken for it. JSON goes into `response_format`,
around which the server lets the model think. A grammar beside tools is refused, unless none may be called: so calls
in a chat format are said not to be calls, and are read from the text here. Whether it was built with llguidance cannot
be seen; GBNF is understood either way.
Sources: llama.cpp's `tools/server/README.md` and `grammars/README.md`; llama.cpp#19051 for grammars that older builds
pass over without a word, and #22537 for grammars and thinking. That tools which must be called are not enforced for
every chat template was seen with the server in xllamacpp.
"""

from __future__ import annotations

from typing import Final

from wieldy.connect.models.backends.engines import GBNF, LLAMA_CPP
from wieldy.connect.models.backends.masking import MaskFields, masking_backend
from wieldy.connect.models.backends.response_format import json_schema_format
from wieldy.core.calls import NO_TOOLS
from wieldy.core.json import JsonObject
from wieldy.grammar.notation import to_gbnf
from wieldy.grammar.reading.regex import whole
from wieldy.grammar.shape import Exact, OneOf, Rules


def _grammar(rules: Rules) -> JsonObject:
    return {"grammar": to_gbnf(rules), "reasoning_format": "none"}


LLAMA_SERVER: Final = masking_backend(
    "llama_server",
    "llama-server",
    MaskFields(
        engine=LLAMA_CPP,
        reply_engine=GBNF,
        json=lambda output, schema: json_schema_format(output, schema, strict=True),
        choice=lambda options: _grammar(Rules(start=OneOf(tuple(map(Exact, options))))),
        pattern=lambda pattern: _grammar(Rules(start=whole(pattern))),
        reply=_grammar,
        reply_choice=NO_TOOLS,
        reads_calls=False,
        has_strict_tools=False,
    ),
    "Without a chat format, whether calls are enforced depends on what the server makes of the model's template.",
    "Older builds pass over a grammar or schema that they cannot read, without a word.",
)
