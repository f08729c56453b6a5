"""Where the references of a document lead: JSON pointers, anchors and the names that subschemas give themselves.

A reference that leads out of the document is an error that says what to do; nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urldefrag, urljoin

from wieldy.core.json import JsonObject
from wieldy.schema.resolve import Location, at, target

_ROOT = "urn:document"


class UnresolvedError(Exception):
    """Why a reference leads nowhere."""


class References:
    """The places of one document by what refers to them.

    Args:
        document: The schema.
        parts: All its subschemas, with their places.
    """

    def __init__(self, document: JsonObject, parts: Iterable[tuple[Location, JsonObject]]) -> None:
        self._document = document
        self._resources: dict[str, Location] = {}
        self._bases: dict[Location, str] = {(): _ROOT}
        self._anchors: dict[tuple[str, str], Location] = {}
        self._has_names = False
        self._identifier = "id" if "draft-04" in str(document.get("$schema")) else "$id"
        for place, schema in parts:
            self._add(place, schema)
        self._resources.setdefault(self._bases[()], ())

    def _add(self, place: Location, schema: JsonObject) -> None:
        identifier = schema.get(self._identifier)
        if isinstance(identifier, str) and not (place and identifier.startswith("#")):
            base = urldefrag(urljoin(self._base(place), identifier)).url
            self._bases[place] = base
            self._resources[base] = place
            self._has_names = True
        for keyword in ("$anchor", "$dynamicAnchor", self._identifier):
            name = schema.get(keyword)
            if isinstance(name, str) and (keyword != self._identifier or name.startswith("#")):
                self._anchors[self._base(place), name.removeprefix("#")] = place
                self._has_names = True

    def _base(self, place: Location) -> str:
        for end in range(len(place), -1, -1):
            if place[:end] in self._bases:
                return self._bases[place[:end]]
        return _ROOT

    def target(self, reference: str, place: Location) -> Location:
        """The place that a reference at a place leads to.

        Raises:
            UnresolvedError: It leads out of the document, or nowhere.
        """
        if not self._has_names and (found := target(reference, self._document)) is not None:
            return found
        base = self._base(place)
        url, fragment = urldefrag(urljoin(base, reference) if not reference.startswith("#") else base + reference)
        resource = self._resources.get(url)
        if resource is None:
            raise UnresolvedError(
                f"`{reference}` leads out of the document, and nothing is fetched: put what it names into `$defs` "
                "and refer to `#/$defs/NAME`"
            )
        if fragment and not fragment.startswith("/"):
            if (url, fragment) in self._anchors:
                return self._anchors[url, fragment]
        else:
            root = at(self._document, resource)
            inside = target(f"#{fragment}", root) if isinstance(root, dict) else None
            if inside is not None:
                return (*resource, *inside)
        raise UnresolvedError(f"`{reference}` leads nowhere in the document")

    def is_only_anchor(self, reference: str) -> bool:
        """Whether a dynamic reference can only mean one place, whoever refers to the schema it stands in."""
        name = urldefrag(reference).fragment
        return sum(anchor == name for _, anchor in self._anchors) <= 1
