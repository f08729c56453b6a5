"""The operations of a service: found in its document and named, and not yet looked into.

What cannot be used becomes a `Diagnostic`, and the others go on. Deliberately not here: what an operation takes
(`plans`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wieldy.connect.rest.documents import Documents, Node, UnreadableError
from wieldy.connect.rest.naming import tool_names
from wieldy.connect.rest.reading import text_of, texts_of
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject

METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """What of a document cannot be used, and why.

    Attributes:
        place: Such as `GET /orders/{id}`; empty for the document itself.
        reason: What was expected and what was found.
    """

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}" if self.place else self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation as the document has it.

    Attributes:
        name: Of its tool.
        method: In upper case.
        path: With places for parameters in braces.
        operation_id: As the document has it; empty if it has none.
        tags: As the document has them.
        item: What stands around it and holds for all operations of the path: parameters, servers.
        node: The operation itself.
    """

    name: str
    method: str
    path: str
    operation_id: str
    tags: tuple[str, ...]
    item: Node
    node: Node

    @property
    def place(self) -> str:
        """The operation for people."""
        return f"{self.method} {self.path}"


def check_version(document: JsonObject) -> bool:
    """Whether it is of version 2; if not, it is of version 3.

    Raises:
        UsageError: It is of neither.
    """
    version = document.get("swagger") or document.get("openapi")
    if str(version).startswith("2"):
        return True
    if str(version).startswith("3") or (version is None and isinstance(document.get("paths"), dict)):
        return False
    found = f"the version {version!r}" if version is not None else f"an object with {_keys(document)}"
    raise UsageError(f"Expected an OpenAPI document of version 2.0, 3.0 or 3.1, found {found}.")


def read_operations(documents: Documents, *, prefix: str = "") -> tuple[list[Operation], list[Diagnostic]]:
    """All operations in the document's order, their names with the prefix, and what could not be read.

    Raises:
        UsageError: The document cannot be read at all.
    """
    try:
        root = documents.root
    except UnreadableError as error:
        raise UsageError(str(error)) from error
    if not isinstance(root.value, dict):
        raise UsageError(f"Expected an OpenAPI document, which is an object, found {type(root.value).__name__}.")
    check_version(root.object)
    paths = root.object.get("paths")
    if paths is None:
        return [], [Diagnostic(place="", reason="the document has no paths, so there is nothing to call")]
    if not isinstance(paths, dict):
        raise UsageError(f"Expected the document's `paths` to be an object, found {type(paths).__name__}.")
    diagnostics: list[Diagnostic] = []
    found = [each for path in paths for each in _of_path(path, root.of(paths[path]), documents, diagnostics)]
    wanted = [(_wanted_name(method, path, node), f"{method} {path}") for method, path, _, node in found]
    names = tool_names(wanted, prefix=prefix)
    operations = [
        Operation(
            name=name,
            method=method.upper(),
            path=path,
            operation_id=text_of(node.object.get("operationId")),
            tags=tuple(texts_of(node.object.get("tags"))),
            item=item,
            node=node,
        )
        for name, (method, path, item, node) in zip(names, found, strict=True)
    ]
    return operations, diagnostics


def _of_path(
    path: str, written: Node, documents: Documents, diagnostics: list[Diagnostic]
) -> Iterator[tuple[str, str, Node, Node]]:
    if path.startswith("x-"):
        return
    try:
        item = documents.follow(written)
    except UnreadableError as error:
        diagnostics.append(Diagnostic(place=path, reason=str(error)))
        return
    # An operation beside a reference counts as well, and before those that it leads to.
    known = {name.lower(): (place, value) for place in (item, written) for name, value in place.object.items()}
    if not isinstance(item.value, dict):
        diagnostics.append(Diagnostic(place=path, reason=f"expected an object, found {type(item.value).__name__}"))
    elif "$ref" in written.object and known.keys().isdisjoint(METHODS):
        reference = written.object["$ref"]
        reason = f"its reference {reference!r:.200} leads to no operations: expected one to an object that has some"
        diagnostics.append(Diagnostic(place=path, reason=reason))
    for method, (place, value) in known.items():
        if method not in METHODS:
            continue
        if isinstance(value, dict):
            yield method, path, item, place.of(value)
        else:
            reason = f"expected an object, found {type(value).__name__}"
            diagnostics.append(Diagnostic(place=f"{method.upper()} {path}", reason=reason))


def _wanted_name(method: str, path: str, node: Node) -> str:
    return text_of(node.object.get("operationId")) or f"{method}{path}"


def _keys(document: JsonObject) -> str:
    return ", ".join(map(repr, list(document)[:5])) or "nothing in it"
