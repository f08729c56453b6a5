"""JSON Schema: from Python types, compiled, validated, coerced, explained, exemplified.

Pure: values in, values out. Above it lie `grammar` and `tools`; below it only `core`. The order in which to read:
`from_types` writes schemas, `compiled` checks values against them, `coerce` repairs what has only one reading,
`explain` words the rest for a model, `example` shows what would have been right; `resolve` and `describe` find and
name parts of a schema.
"""

from wieldy.schema.coerce import coerce, may_change
from wieldy.schema.compiled import CompiledSchema, FormatChecks
from wieldy.schema.describe import describe
from wieldy.schema.example import example
from wieldy.schema.explain import explain
from wieldy.schema.violations import Violation, nearest, nearest_names, render_path
from wieldy.schema.wellformed import is_wellformed, malformed

__all__ = [
    "CompiledSchema",
    "FormatChecks",
    "Violation",
    "coerce",
    "describe",
    "example",
    "explain",
    "is_wellformed",
    "malformed",
    "may_change",
    "nearest",
    "nearest_names",
    "render_path",
]
