"""A document's text, JSON or YAML, as a value.

YAML is read as JSON's superset that it was meant to be: keys are text, dates stay text, and only `true` and `false` are
booleans. Deliberately not here: where the text comes from (`documents`).
"""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from typing import Any, Final, cast

from wieldy.core.errors import UsageError
from wieldy.core.extras import installing
from wieldy.core.json import JsonValue

MAX_DOCUMENT_BYTES: Final = 64 * 2**20
"""Of one file; the largest known description of a service has 47 MB."""

_MOST_BY_ALIASES: Final = 1_000_000
"""How many values more than characters a document in YAML may have once its aliases are written out."""
_MERGE: Final = "tag:yaml.org,2002:merge"
_BOOLEAN: Final = re.compile(r"(?:true|True|TRUE|false|False|FALSE)$")
_ERRORS_OF_YAML: Final = (ValueError, TypeError, RecursionError, AttributeError)


def parse_document(data: bytes, *, name: str) -> JsonValue:
    """The value that the bytes are.

    Args:
        data: JSON or YAML in UTF-8; a byte order mark is passed over.
        name: How errors call the document.

    Raises:
        UsageError: They are neither, or too many, or YAML and its reader is not installed.
    """
    if len(data) > MAX_DOCUMENT_BYTES:
        raise UsageError(f"{name}: expected at most {MAX_DOCUMENT_BYTES} bytes, found {len(data)}.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: expected text in UTF-8, found other bytes: {error}.") from error
    try:
        return cast("JsonValue", json.loads(text))
    except RecursionError as error:
        raise UsageError(f"{name}: it is nested too deeply to be read.") from error
    except ValueError as error:
        if text.lstrip()[:1] in {"{", "["} and find_spec("yaml") is None:
            raise UsageError(f"{name}: expected JSON, found something else: {error}.") from error
    return _parse_yaml(text, name=name)


def _parse_yaml(text: str, *, name: str) -> JsonValue:
    # An optional package: documents in JSON need none.
    try:
        import yaml  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            f"{name}: expected JSON. If it is YAML, install its reader: {installing('openapi')}."
        ) from error
    try:
        value = cast("JsonValue", yaml.load(text, Loader=_loader(yaml)))
        _check_aliases(value, most=len(text) + _MOST_BY_ALIASES, name=name)
    except (yaml.YAMLError, *_ERRORS_OF_YAML) as error:
        reason = " ".join(str(error).split())[:300]
        raise UsageError(f"{name}: expected JSON or YAML, found neither: {reason}.") from error
    return value


def _check_aliases(value: JsonValue, *, most: int, name: str) -> None:
    """Nothing, if the document is of a size that can be gone through, each alias written out.

    Raises:
        UsageError: It is not, or a part stands within itself.
    """
    left, waiting = most, [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict | list):
            left -= len(part)
            if left < 0:
                raise UsageError(
                    f"{name}: expected at most {most} values, found more once its aliases are written out."
                )
            waiting += part.values() if isinstance(part, dict) else part


def _loader(yaml: Any) -> Any:
    parent: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(parent):
        """Reads what JSON has too, and nothing more."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:
            if isinstance(node, yaml.MappingNode):
                self.flatten_mapping(node)
            # As it is written: a status is 200 and a country NO, whatever YAML 1.1 makes of them.
            return {_key(key): self.construct_object(value, deep=deep) for key, value in node.value}

    def _key(node: Any) -> str:
        if not isinstance(node.value, str):
            raise yaml.constructor.ConstructorError(None, None, "expected keys that are text", node.start_mark)
        return node.value

    Loader.yaml_implicit_resolvers = {
        first: [
            (tag, pattern)
            for tag, pattern in resolvers
            if tag == _MERGE or tag.rpartition(":")[2] in {"null", "int", "float"}
        ]
        for first, resolvers in parent.yaml_implicit_resolvers.items()
    }
    Loader.add_implicit_resolver("tag:yaml.org,2002:bool", _BOOLEAN, list("tTfF"))
    return Loader
