"""What a document says of a service, each part looked into when it is asked for, and no part twice.

Nothing here waits or holds a secret. Deliberately not here: tools and calls (`toolset`, `calls`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TypeAlias, cast
from urllib.parse import urldefrag, urlsplit
from urllib.request import url2pathname

from wieldy.connect.rest.bodies import best_of
from wieldy.connect.rest.documents import Documents, Node, NotFetchedError, UnreadableError, read_file
from wieldy.connect.rest.meanings import SchemaReader
from wieldy.connect.rest.operations import Diagnostic, Operation, read_operations
from wieldy.connect.rest.plans import Plan, make_plan
from wieldy.connect.rest.reading import object_of, one_line
from wieldy.connect.rest.schemas import SchemaWriter
from wieldy.connect.rest.security import Schemes, read_schemes
from wieldy.connect.rest.servers import check_server, checked_variables, server_of
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.schema.resolve import ANNOTATIONS
from wieldy.tools.names import check_prefix

DocumentSource: TypeAlias = "str | Path | Mapping[str, object]"
"""A path, a URL, or the document itself."""

_URL = re.compile(r"https?://", re.IGNORECASE)


class Service:
    """A service as its document describes it.

    Args:
        document: A path, a URL or a dictionary. What lies behind a URL is known once it was handed to `documents`.
        server: The address to use instead of the document's.
        variables: Values for places in the document's addresses.
        only: Patterns of names of operations without the prefix, such as `list_*`; all if left out.
        prefix: Stands before all names.
        characters: How much the schema of one tool may say beyond the names and types of its arguments.

    Raises:
        UsageError: The document cannot be read, or one of the others is none.
    """

    def __init__(
        self,
        document: DocumentSource,
        *,
        server: str | None,
        variables: Mapping[str, str],
        only: Collection[str] | None,
        prefix: str,
        characters: int,
    ) -> None:
        self.documents = _documents(document)
        self.server = None if server is None else server.rstrip("/")
        if self.server is not None and (reason := check_server(self.server)):
            raise UsageError(f"Expected server= to be an address: {reason}")
        self._variables = checked_variables(variables)
        self._only = None if only is None else tuple(only)
        self._prefix = check_prefix(prefix)
        self._characters = characters
        self.operations: dict[str, Operation] = {}
        self._found: list[Diagnostic] = []
        self._plans: dict[str, Plan] = {}
        self._failures: dict[str, Diagnostic] = {}
        self._schemes: Schemes | None = None
        if not self.documents.wanted:
            self.learn()

    @property
    def is_known(self) -> bool:
        """Whether the document was read."""
        return self.documents.is_read(self.documents.root_uri)

    def learn(self) -> None:
        """Which operations there are; they are not looked into.

        Raises:
            UsageError: The document cannot be read.
        """
        operations, self._found = read_operations(self.documents, prefix=self._prefix)
        self.operations = {each.name: each for each in operations if self._is_meant(each)}
        self._plans.clear()
        self._failures.clear()
        self._schemes = None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What cannot be used, as far as it was looked into."""
        return (*self._found, *self._failures.values())

    @property
    def schemes(self) -> Schemes:
        """The ways in which the service is told who calls."""
        if self._schemes is None:
            self._schemes = read_schemes(self.documents.root, self.documents)
        return self._schemes

    def plan(self, name: str) -> Plan | None:
        """How the operation of that name is called; None if there is no such, or it cannot be used."""
        if name not in self._plans and name in self.operations and name not in self._failures:
            operation = self.operations[name]
            try:
                self._plans[name] = make_plan(
                    operation, self.documents, characters=self._characters, schemes=self.schemes.known
                )
            except NotFetchedError:
                return None
            except UnreadableError as error:
                self.reject(operation, str(error))
            except RecursionError:
                self.reject(operation, "it is nested too deeply to be read")
        return self._plans.get(name)

    def look_into_all(self) -> None:
        """Every operation was looked into, so that it is known to which documents they refer."""
        for name in self.operations:
            self.plan(name)

    def note(self, reason: str) -> None:
        """Something holds for the whole document; it is said once."""
        diagnostic = Diagnostic(place="", reason=reason)
        if diagnostic not in self._found:
            self._found.append(diagnostic)

    def reject(self, operation: Operation, reason: str) -> None:
        """The operation cannot be used."""
        self._plans.pop(operation.name, None)
        self._failures[operation.name] = Diagnostic(place=operation.place, reason=reason)

    def server_of(self, operation: Operation) -> tuple[str, str]:
        """The address of the operation's server, or an empty text and the reason why there is none."""
        if self.server is not None:
            return self.server, ""
        return server_of(self.documents.root, operation.item, operation.node, variables=self._variables)

    def describe(self, operation: Operation, *, limit: int) -> str:
        """What the operation does, in the document's words; its path where the document has none."""
        value = operation.node.object
        summary, description = (one_line(value.get(key), limit=limit) for key in ("summary", "description"))
        if summary and description and not description.lower().startswith(summary.lower().rstrip(".")):
            description = f"{summary.rstrip('.')}. {description}"
        words = description or summary or operation.place
        if value.get("deprecated") is True:
            words = f"Deprecated. {words}"
        return one_line(words, limit=limit)

    def output_schema(self, operation: Operation) -> JsonObject | None:
        """What a good answer is; None where that is not said, or is no JSON."""
        try:
            node = _answer(operation.node, self.documents)
            if node is None:
                return None
            slot: JsonObject = {}
            writer = SchemaWriter(SchemaReader(self.documents), direction="response", characters=self._characters)
            writer.add(node, slot)
            writer.write()
        except UnreadableError:
            return None
        return slot if slot.keys() - ANNOTATIONS else None

    def is_named(self, name: str, pattern: str) -> bool:
        """Whether the pattern fits the tool's name without the prefix."""
        return fnmatchcase(name.removeprefix(self._prefix), pattern)

    def _is_meant(self, operation: Operation) -> bool:
        return self._only is None or any(map(partial(self.is_named, operation.name), self._only))


def _documents(source: DocumentSource) -> Documents:
    if isinstance(source, Mapping):
        documents = Documents(root_uri="")
        documents.add("", cast("JsonValue", dict(source)))
        return documents
    _check_kind(source)
    if isinstance(source, str) and _URL.match(source):
        uri = urldefrag(source).url
        documents = Documents(root_uri=uri)
        documents.wanted.add(uri)
        return documents
    text = url2pathname(urlsplit(source).path) if isinstance(source, str) and source.startswith("file:") else source
    path = Path(text).expanduser().absolute()
    documents = Documents(root_uri=path.as_uri())
    documents.add(path.as_uri(), read_file(path))
    return documents


def _check_kind(source: object) -> None:
    if not isinstance(source, str | Path):
        raise UsageError(f"Expected a document as a path, a URL or a dictionary, found {type(source).__name__}.")


def _answer(operation: Node, documents: Documents) -> Node | None:
    """The schema of the first good answer that is JSON."""
    responses = operation.part("responses")
    by_status = {str(status): responses.of(value) for status, value in responses.object.items()}
    good = sorted(status for status in by_status if status.startswith("2")) or ["default"]
    for status in good:
        response = documents.follow(by_status.get(status, responses.of(None)))
        if "schema" in response.object:
            return response.part("schema")
        content = object_of(response.object.get("content"))
        if content and "json" in (media_type := best_of(content)):
            return response.of(content[media_type]).part("schema")
    return None
