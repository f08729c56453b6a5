"""The configuration's file as values: JSON, or YAML. What it says twice is refused, since one of the two would be lost.

Deliberately not here: what the values mean (`config`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from wieldy.core.errors import UsageError
from wieldy.core.extras import installing
from wieldy.core.json import parse_json


def content_of(file: Path) -> object:
    """What stands in the file.

    Raises:
        UsageError: It cannot be read, is neither JSON nor YAML, or has a key twice in one object.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise UsageError(f"{file}: the file cannot be read: {reason}.") from error
    try:
        return parse_json(text)
    except (ValueError, RecursionError) as error:
        if file.suffix.lower() == ".json":
            raise UsageError(f"{file}: expected JSON, found something else: {error}.") from error
    return _yaml(file, text)


def _yaml(file: Path, text: str) -> object:
    try:
        import yaml  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError(f"{file}: reading YAML needs pyyaml. Install it: {installing('gateway')}.") from error

    class Strict(yaml.SafeLoader):
        """Keeps the last of two equal keys as little as the first: it ends with an error."""

        def compose_mapping_node(self, anchor: Any) -> Any:
            node = super().compose_mapping_node(anchor)
            known: set[str] = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if key.value in known:
                        raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} twice", problem_mark=key.start_mark)
                    known.add(key.value)
            return node

    try:
        return cast("object", yaml.load(text, Strict))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UsageError(f"{file}: expected YAML or JSON, found something else: {error}") from error
