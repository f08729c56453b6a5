"""Where a list goes on: the arguments of the next page, read from a page.

Pure. Looked at are the header `Link` (RFC 8288) and the fields by which services commonly say it; what is found is
turned into arguments of the same operation, or is none. Law: the arguments fit the operation's own parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qsl, urljoin, urlsplit

from wieldy.connect.rest.plans import Plan
from wieldy.connect.rest.reading import list_of, object_of
from wieldy.connect.rest.responses import Response
from wieldy.connect.rest.servers import origin_of
from wieldy.core.json import JsonObject, JsonValue

_NEXT: Final = re.compile(r"<([^<>]*)>[^,<]*;\s*rel=\"?([^\",;]*\s)?next[\s\"]?", re.IGNORECASE)
_LINKS: Final = (
    ("@odata.nextLink",),
    ("odata.nextLink",),
    ("next",),
    ("next_url",),
    ("next_page_url",),
    ("nextLink",),
    ("nextPageUrl",),
    ("_links", "next", "href"),
    ("_links", "next"),
    ("links", "next"),
    ("links", "next", "href"),
    ("paging", "next"),
    ("paging", "next", "link"),
    ("pagination", "next"),
    ("meta", "next"),
)
"""Where an address of the next page stands."""
_CURSORS: Final = (
    "next_page_token",
    "nextPageToken",
    "next_cursor",
    "nextCursor",
    "next_token",
    "nextToken",
    "NextToken",
    "NextMarker",
    "next_page",
    "nextPage",
    "continue",
    "continuation_token",
    "continuationToken",
    "cursor",
    "after",
)
"""Fields that say what to ask for next."""
_HOLDERS: Final = (
    (),
    ("meta",),
    ("metadata",),
    ("paging",),
    ("pagination",),
    ("response_metadata",),
    ("page_info",),
    ("paging", "cursors"),
)
_TAKERS: Final = (
    "page_token",
    "pageToken",
    "cursor",
    "page_cursor",
    "next_token",
    "nextToken",
    "NextToken",
    "Marker",
    "marker",
    "continue",
    "continuation_token",
    "continuationToken",
    "starting_after",
    "after",
    "page",
)
"""Parameters that take it, where none has the field's own name."""


def next_arguments(plan: Plan, arguments: JsonObject, response: Response, value: JsonValue) -> JsonObject | None:
    """The arguments of the call for the next page; None where this is the last one, or nobody can tell."""
    queries = {each.name: name for name, each in plan.parameters.items() if each.place == "query"}
    changed = _by_link(plan, queries, response, value) or _by_cursor(plan, queries, value) or _by_last(queries, value)
    if not changed:
        return None
    following = {**arguments, **changed}
    return following if following != arguments else None


def _by_link(plan: Plan, queries: dict[str, str], response: Response, value: JsonValue) -> JsonObject:
    for link in _links(response, value):
        try:
            url = urljoin(response.url, link)
            parts = urlsplit(url)
            if origin_of(url) != origin_of(response.url) or parts.path.rstrip("/") != urlsplit(
                response.url
            ).path.rstrip("/"):
                continue
        except ValueError:
            continue
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        if pairs and all(name in queries for name, _ in pairs):
            before = dict(parse_qsl(urlsplit(response.url).query, keep_blank_values=True))
            return {
                queries[name]: _typed(plan, queries[name], text) for name, text in pairs if before.get(name) != text
            }
    return {}


def _links(response: Response, value: JsonValue) -> Iterator[str]:
    for match in _NEXT.finditer(response.headers.get("link", "")):
        yield match[1]
    for way in _LINKS:
        found = _at(value, way)
        if isinstance(found, str) and found:
            yield found


def _by_cursor(plan: Plan, queries: dict[str, str], value: JsonValue) -> JsonObject:
    for holder in _HOLDERS:
        fields = object_of(_at(value, holder))
        for field in _CURSORS:
            found = fields.get(field)
            if not isinstance(found, str | int) or isinstance(found, bool) or found == "":
                continue
            taker = next((name for name in (field.removeprefix("next_"), field, *_TAKERS) if name in queries), None)
            if taker is not None:
                return {queries[taker]: _typed(plan, queries[taker], str(found))}
    return {}


def _by_last(queries: dict[str, str], value: JsonValue) -> JsonObject:
    """Where there is more and the next page is asked for by the id of the last item."""
    items = list_of(object_of(value).get("data"))
    if object_of(value).get("has_more") is not True or "starting_after" not in queries or not items:
        return {}
    last = object_of(items[-1]).get("id")
    return {queries["starting_after"]: last} if isinstance(last, str) else {}


def _at(value: JsonValue, way: tuple[str, ...]) -> JsonValue:
    for name in way:
        value = object_of(value).get(name)
    return value


def _typed(plan: Plan, argument: str, text: str) -> JsonValue:
    """The text as the argument's own type."""
    said = object_of(object_of(plan.input_schema.get("properties")).get(argument)).get("type")
    types = said if isinstance(said, list) else [said]
    if "string" not in types and re.fullmatch(r"-?[0-9]{1,15}", text) and ("integer" in types or "number" in types):
        return int(text)
    if "string" not in types and "boolean" in types and text in {"true", "false"}:
        return text == "true"
    if "array" in types and "string" not in types:
        return [text]
    return text
