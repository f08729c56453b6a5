"""A service made from a document alone: it reads each request by itself, and says what it has read.

Nothing of ours is used: references, routes, styles and bodies are read here once more, from the specification. What it
answers is one JSON object: the operation, the parameters as text by place and name, and the body.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "connect" / "rest"))
from rest_decoding import read_header, read_path, read_query
from rest_recorder import Answer, Recorded, as_json

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
STYLES = {"ssv": "spaceDelimited", "pipes": "pipeDelimited", "tsv": "tabDelimited"}


class MadeService:
    """Answers requests for a document's operations; the document's own servers do not matter."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._routes = [
            (method.upper(), self._pattern(path), path, self._resolved(item), self._resolved(item)[method])
            for path, item in document["paths"].items()
            for method in METHODS
            if isinstance(self._resolved(item).get(method), dict)
        ]
        # A path without places counts more than one with them.
        self._routes.sort(key=lambda route: route[2].count("{"))

    def __call__(self, request: Recorded) -> Answer:
        """What was read, or 404 and 400 where it cannot be."""
        for method, pattern, path, item, operation in self._routes:
            match = pattern.fullmatch(request.path) if method == request.method else None
            if match is None:
                continue
            try:
                return as_json({"operation": f"{method} {path}", **self._read(request, match, item, operation)})
            except (AssertionError, ValueError, KeyError, IndexError) as error:
                return as_json({"error": f"cannot be read: {error!r}"}, 400)
        return as_json({"error": "no such operation"}, 404)

    def _read(
        self, request: Recorded, match: re.Match[str], item: dict[str, Any], operation: dict[str, Any]
    ) -> dict[str, Any]:
        declared = [self._resolved(each) for each in (*item.get("parameters", []), *operation.get("parameters", []))]
        parameters = {
            (each["in"], each["name"]): each for each in declared if each["in"] in {"path", "query", "header"}
        }
        names = [name for place, name in parameters if place == "query"]
        found: dict[str, Any] = {}
        for (place, name), each in parameters.items():
            value = self._value(request, match, place, name, each, names)
            if value is not None:
                found[f"{place} {name}"] = value
            elif each.get("required") and not re.fullmatch("accept|content-type|authorization", name, re.IGNORECASE):
                raise ValueError(f"{place} parameter {name} is missing")
        unknown = [
            key
            for key, _ in parse_qsl(request.query, keep_blank_values=True)
            if key not in names and key.partition("[")[0] not in names
        ]
        return {"parameters": found, "unknown": unknown, "body": self._body(request, declared, operation)}

    def _value(
        self, request: Recorded, match: re.Match[str], place: str, name: str, said: dict[str, Any], names: list[str]
    ) -> Any:
        schema = self._resolved(said.get("schema", said if "content" not in said else {}))
        kind = {"array": "array", "object": "object"}.get(str(schema.get("type")), "text")
        style, explode = self._style(place, said)
        if "content" in said:
            kind = "text"
        if place == "path":
            return read_path(match[_group(name)], name=name, style=style, explode=explode, kind=kind)
        if place == "header":
            text = request.header(name)
            return None if text is None else read_header(text, explode=explode, kind=kind)
        if kind == "object" and explode and style == "form":
            pairs = [part for part in request.query.split("&") if unquote(part.partition("=")[0]) not in names]
        else:
            pairs = [
                part
                for part in request.query.split("&")
                if part and re.split(r"\[", unquote(part.partition("=")[0]))[0] == name.partition("[")[0]
            ]
        if not any(pairs):
            return None
        if any("[" in unquote(pair.partition("=")[0]) and unquote(pair.partition("=")[0]) != name for pair in pairs):
            return {"brackets": parse_qsl("&".join(pairs), keep_blank_values=True)}
        return read_query("&".join(pairs), name=name, style=style, explode=explode, kind=kind)

    def _style(self, place: str, said: dict[str, Any]) -> tuple[str, bool]:
        default = {"path": "simple", "header": "simple"}.get(place, "form")
        if "schema" not in said and "content" not in said:
            collection = said.get("collectionFormat", "csv")
            return STYLES.get(collection, default), collection == "multi"
        style = said.get("style", default)
        return style, said.get("explode", style == "form")

    def _body(self, request: Recorded, declared: list[dict[str, Any]], operation: dict[str, Any]) -> Any:
        kind = (request.header("content-type") or "").partition(";")[0]
        offered = self._resolved(operation.get("requestBody", {})).get("content", {})
        if kind and offered and not any(kind == each.partition(";")[0] or "*" in each for each in offered):
            raise ValueError(f"{kind} is not among {list(offered)}")
        if not request.body:
            is_required = self._resolved(operation.get("requestBody", {})).get("required") is True
            if is_required or any(each["in"] == "body" and each.get("required") for each in declared):
                raise ValueError("the body is missing")
            return None
        if "json" in kind:
            return json.loads(request.body)
        if kind == "application/x-www-form-urlencoded":
            return {"pairs": parse_qsl(request.body.decode(), keep_blank_values=True)}
        return {"bytes": len(request.body)}

    def _resolved(self, value: Any) -> dict[str, Any]:
        for _ in range(20):
            if not (isinstance(value, dict) and isinstance(value.get("$ref"), str)):
                break
            place: Any = self._document
            for part in unquote(value["$ref"]).split("/")[1:]:
                name = part.replace("~1", "/").replace("~0", "~")
                place = place[int(name)] if isinstance(place, list) else place[name]
            value = place
        return value if isinstance(value, dict) else {}

    @staticmethod
    def _pattern(path: str) -> re.Pattern[str]:
        pieces = re.split(r"\{([^{}]+)\}", path.partition("?")[0].partition("#")[0])
        return re.compile(
            "".join(
                f"(?P<{_group(piece)}>[^/]+?)" if index % 2 else re.escape(piece) for index, piece in enumerate(pieces)
            )
        )


def _group(name: str) -> str:
    return "p_" + name.encode().hex()
