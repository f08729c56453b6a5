"""Writes the part of `docs/reference/backends.md` that is about single backends, from the backends themselves.

    python scripts/backend_reference.py           # writes the page
    python scripts/backend_reference.py --check   # ends with 1 if the page is out of date

What a backend takes is found out by asking it.
"""

import sys
from pathlib import Path
from typing import Any

from wieldy import ToolDefinition
from wieldy.connect.models.backends import BACKENDS, Asked, Backend, Taken
from wieldy.connect.models.backends.dialects import GEMINI, GEMINI_OPENAPI, SchemaDialect
from wieldy.connect.models.backends.plan import plan_of
from wieldy.connect.models.backends.strict import strict_schema
from wieldy.core.outputs import ChoiceOutput, JsonOutput, PatternOutput
from wieldy.formats import get

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "backends.md"
BEGIN = "<!-- written by scripts/backend_reference.py -->"
END = "<!-- end of what is written -->"

OBJECT: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
JSON, CHOICE, PATTERN = JsonOutput(schema=OBJECT), ChoiceOutput(options=("a", "b")), PatternOutput(pattern="[a-z]+")
TOOL = ToolDefinition(name="t", description="", input_schema=OBJECT)
HERMES = get("hermes")


def of(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A schema with one property of the given one."""
    whole = {"type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": False}
    return {**whole, **more}


TEXT, COUNT, PART = {"type": "string"}, {"type": "integer"}, {"type": "number"}
PROBES: dict[str, dict[str, Any]] = {
    "`enum`, `const`": of({"enum": ["a", 1, None]}),
    "properties that may be left out": {**OBJECT, "required": []},
    "a schema that contains itself": {**OBJECT, "properties": {"n": COUNT, "next": {"$ref": "#"}}},
    "a map with free keys": of({"type": "object", "additionalProperties": COUNT}),
    "any value": of({}),
    "`minLength`, `maxLength`": of({**TEXT, "minLength": 1, "maxLength": 9}),
    "`pattern`": of({**TEXT, "pattern": "^a+$"}),
    "`format`: date": of({**TEXT, "format": "date"}),
    "bounds of integers": of({**COUNT, "minimum": 1, "maximum": 9}),
    "bounds of numbers": of({**PART, "minimum": 0.5}),
    "`multipleOf`": of({**PART, "multipleOf": 0.25}),
    "`minItems`, `maxItems`": of({"type": "array", "items": TEXT, "minItems": 2, "maxItems": 3}),
    "`uniqueItems`": of({"type": "array", "items": TEXT, "uniqueItems": True}),
    "`prefixItems`": of({"type": "array", "prefixItems": [TEXT, COUNT], "items": False}),
    "`anyOf`": of({"anyOf": [TEXT, COUNT]}),
    "`oneOf`, overlapping": of({"oneOf": [COUNT, PART]}),
    "`allOf`": of({"allOf": [{"type": "integer", "minimum": 1}, {"maximum": 9}]}),
    "`not`": of({**TEXT, "not": {"const": "a"}}),
    "`minProperties`": of({"type": "object", "additionalProperties": COUNT, "minProperties": 2}),
    "`dependentRequired`": {
        "type": "object",
        "properties": {"a": TEXT, "b": TEXT},
        "dependentRequired": {"a": ["b"]},
        "additionalProperties": False,
    },
}
COMPARED = ("openai", "azure", "anthropic", "vllm", "llama_server", "ollama")
WRITTEN_ONLY = {"Gemini": GEMINI, "Gemini, `Schema`": GEMINI_OPENAPI}
"""Dialects into which schemas are translated, of providers that no backend asks."""


def main() -> int:
    old = PAGE.read_text("utf-8")
    new = page_with(old)
    if "--check" in sys.argv:
        return int(new != old)
    PAGE.write_text(new, "utf-8")
    return 0


def page_with(page: str) -> str:
    """The page with its generated part written anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{generated()}\n{END}{after}"


def generated() -> str:
    backends = list(BACKENDS.values())
    rows = "\n".join(row(backend) for backend in backends)
    notes = "\n".join(f"* {backend.title}: {note}" for backend in backends for note in backend.notes)
    keywords = "\n".join(keyword_row(name, schema) for name, schema in PROBES.items())
    titles = " | ".join([*(BACKENDS[name].title for name in COMPARED), *WRITTEN_ONLY])
    columns = len(COMPARED) + len(WRITTEN_ONLY)
    return (
        "### By kind of answer\n\n"
        "| `backend=` | server | JSON | choice | pattern | answer beside tools | tools | tools in a chat format |\n"
        f"|---|---|---|---|---|---|---|---|\n{rows}\n\n{notes}\n\n"
        f"### By keyword\n\n| in a schema | {titles} |\n|---|{'---|' * columns}\n{keywords}\n"
    )


def row(backend: Backend) -> str:
    def taken(which: str, **asked: Any) -> str:
        return cell(getattr(plan_of(backend, Asked(**asked), options={}), which))

    cells = [
        f"`{backend.name}`",
        backend.title,
        taken("answer", output=JSON),
        taken("answer", output=CHOICE),
        taken("answer", output=PATTERN),
        {"always": "yes", "never": "no", "in a chat format": "in a chat format"}[backend.takes_both],
        taken("calls", tools=(TOOL,)),
        taken("calls", tools=(TOOL,), chat_format=HERMES),
    ]
    return f"| {' | '.join(cells)} |"


def cell(taken: Taken) -> str:
    fields = [f"`{path}`" for name, value in taken.fields.items() if (path := path_of(name, value))]
    fields += ["strict tools"] if taken.strict else []
    return f"{taken.how}: {', '.join(fields)}" if fields else taken.how


def path_of(name: str, value: Any) -> str:
    match name, value:
        case "reasoning_format", _:
            return ""
        case "response_format", {"type": str(kind)}:
            return f"{name}: {kind}"
        case _, dict() if len(value) == 1:
            return f"{name}.{next(iter(value))}"
        case _:
            return name


def keyword_row(name: str, schema: dict[str, Any]) -> str:
    cells = [fate(BACKENDS[backend].answer(Asked(), JsonOutput(schema=schema))) for backend in COMPARED]
    cells += [fate_in(dialect, schema) for dialect in WRITTEN_ONLY.values()]
    return f"| {name} | {' | '.join(cells)} |"


def fate_in(dialect: SchemaDialect, schema: dict[str, Any]) -> str:
    strict = strict_schema(schema, dialect)
    if strict.refused:
        return "no form"
    return "validator" if any(entry.keyword != "additionalProperties" for entry in strict.unenforced) else "enforced"


def fate(taken: Taken) -> str:
    if taken.holds:
        return "enforced"
    return "validator" if taken.how in ("mask", "native") else f"{taken.how} only"


if __name__ == "__main__":
    sys.exit(main())
