"""The documents that describe a service: the one that was named, and those that it refers to, each read when needed.

A place in them is a `Node`: a value, and the URI of the document in which it stands, since what it refers to is meant
from there. Nothing here waits: a document that lies behind a URL and was not fetched yet is named in `wanted`, and
whoever can wait fetches it and hands it over. Law: reading files stays below the folder of the document that was named,
and a document from the network leads to no file and to no other server.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urldefrag, urljoin, urlsplit
from urllib.request import url2pathname

from wieldy.connect.rest.loading import MAX_DOCUMENT_BYTES, parse_document
from wieldy.connect.rest.reading import object_of
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, JsonValue

MAX_DOCUMENTS: Final = 2000
"""How many documents one service may be described in."""
_MAX_REFERENCES: Final = 50


class UnreadableError(Exception):
    """A part of a document cannot be read; `str(error)` says why. Whoever reads the document goes on without it."""


class NotFetchedError(UnreadableError):
    """It stands in a document that was not fetched yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value and where it stands.

    Attributes:
        value: Whatever stands there.
        base: The URI of its document; empty for a dictionary, which lies nowhere.
    """

    value: JsonValue
    base: str

    @property
    def object(self) -> JsonObject:
        """The value, if it is an object; else an empty one."""
        return object_of(self.value)

    def part(self, *names: str) -> Node:
        """What stands below it under these names, one within the other; null where nothing does."""
        value = self.value
        for name in names:
            value = object_of(value).get(name)
        return Node(value=value, base=self.base)

    def of(self, value: JsonValue) -> Node:
        """Another value in the same document."""
        return Node(value=value, base=self.base)


@dataclass(slots=True, kw_only=True)
class Documents:
    """All documents of one service.

    Attributes:
        root_uri: That of the document that was named.
        wanted: URLs of documents that were referred to and not fetched yet.
    """

    root_uri: str
    wanted: set[str] = field(default_factory=set[str])
    _values: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    _failures: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def root(self) -> Node:
        """The whole document that was named.

        Raises:
            UnreadableError: It cannot be read.
        """
        return Node(value=self._document(self.root_uri, referrer=self.root_uri), base=self.root_uri)

    @property
    def has_outside_references(self) -> bool:
        """Whether the document that was named refers to others.

        Cost: linear in the document.
        """
        waiting: list[JsonValue] = [self.root.value]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                reference = value.get("$ref")
                if isinstance(reference, str) and not reference.startswith("#"):
                    return True
                waiting += value.values()
            elif isinstance(value, list):
                waiting += value
        return False

    def is_read(self, uri: str) -> bool:
        """Whether the document at this URI is here."""
        return uri in self._values

    def add(self, uri: str, value: JsonValue) -> None:
        """The document that lies at this URI."""
        self._values[uri] = value
        self._failures.pop(uri, None)
        self.wanted.discard(uri)

    def fail(self, uri: str, reason: str) -> None:
        """The document that lies at this URI cannot be had."""
        self._failures[uri] = reason
        self.wanted.discard(uri)

    def follow(self, node: Node) -> Node:
        """Where the references of the node lead; the node itself if it is none.

        Raises:
            UnreadableError: They lead nowhere, in a circle, or into a document that cannot be had.
        """
        for _ in range(_MAX_REFERENCES):
            reference = node.object.get("$ref")
            if not isinstance(reference, str):
                return node
            node = self.resolve(reference, base=node.base)
        raise UnreadableError(f"its references lead in a circle: {node.object.get('$ref')!r}")

    def resolve(self, reference: str, *, base: str) -> Node:
        """What a reference in the document with this URI names.

        Raises:
            UnreadableError: It names nothing, or nothing that may be read.
        """
        uri, fragment = urldefrag(address(reference, base=base))
        value = self._document(uri, referrer=base)
        for part in unquote(fragment).split("/")[1:] if fragment else ():
            value = _member(value, part.replace("~1", "/").replace("~0", "~"), reference)
        if fragment and not fragment.startswith("/"):
            raise UnreadableError(
                f"the reference {reference!r} is not a JSON pointer, such as '#/components/schemas/A'"
            )
        return Node(value=value, base=uri)

    def _document(self, uri: str, *, referrer: str) -> JsonValue:
        if uri in self._values:
            return self._values[uri]
        if uri in self._failures:
            raise UnreadableError(self._failures[uri])
        try:
            self._check_reach(uri, referrer)
            if urlsplit(uri).scheme != "file":
                self.wanted.add(uri)
                raise NotFetchedError(f"{uri} is read when the toolset is opened")
            self._values[uri] = value = read_file(Path(url2pathname(urlsplit(uri).path)))
        except UsageError as error:
            self._failures[uri] = str(error)
            raise UnreadableError(str(error)) from error
        return value

    def _check_reach(self, uri: str, referrer: str) -> None:
        """Nothing, if what lies at the URI may be read because the referrer says so.

        Raises:
            UnreadableError: It may not.
        """
        target, source = urlsplit(uri), urlsplit(referrer)
        if len(self._values) + len(self._failures) >= MAX_DOCUMENTS:
            raise UnreadableError(f"it refers to {uri}, and {MAX_DOCUMENTS} documents were read already")
        if target.scheme in {"http", "https"}:
            if source.scheme in {"http", "https"} and target[:2] != source[:2]:
                raise UnreadableError(f"it refers to {uri}, on another server; such a document is not read")
            return
        if target.scheme != "file":
            raise UnreadableError(
                f"it refers to {uri!r}, which says not where that lies: give the document by its path"
            )
        folder = Path(url2pathname(urlsplit(self.root_uri).path)).resolve().parent
        if source.scheme != "file" or not Path(url2pathname(target.path)).resolve().is_relative_to(folder):
            raise UnreadableError(
                f"it refers to the file {url2pathname(target.path)}, which lies outside the folder of the document; "
                "put both into one folder"
            )


def read_file(path: Path) -> JsonValue:
    """The document in a file.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_DOCUMENT_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{path}: the document cannot be read: {reason}") from error
    return parse_document(data, name=str(path))


def address(reference: str, *, base: str) -> str:
    """The address that a reference means in a document with this URI.

    Raises:
        UnreadableError: It is none.
    """
    if reference.startswith("#"):
        return base + reference
    try:
        joined = urljoin(base, reference)
        urlsplit(joined)  # of an empty base nothing is looked at
    except ValueError as error:
        raise UnreadableError(f"the reference {reference!r} is no address: {error}") from error
    return joined


def _member(value: JsonValue, name: str, reference: str) -> JsonValue:
    if isinstance(value, dict) and name in value:
        return value[name]
    if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
        return value[int(name)]
    raise UnreadableError(f"the reference {reference!r} leads nowhere: there is no {name!r}")
