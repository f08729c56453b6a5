"""One request, from a plan and arguments. Pure, and without any secret.

Law: every argument is in the request, or the request is refused; a value in a path never changes which path it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from wieldy.connect.models.strict_json import json_bytes
from wieldy.connect.rest.bodies import Body
from wieldy.connect.rest.forms import file_content, multipart, urlencoded
from wieldy.connect.rest.parameters import Parameter
from wieldy.connect.rest.plans import WHOLE_BODY, Plan
from wieldy.connect.rest.styles import in_cookie, in_header, in_path, in_query, joined, scalar_text
from wieldy.core.errors import ArgumentsError
from wieldy.core.json import JsonObject

ACCEPT: Final = "application/json, */*;q=0.5"
_PLACE: Final = re.compile(r"\{([^{}]+)\}")
_SAFE_IN_PATH: Final = "/!$&'()*+,;=:@%?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is sent.

    Attributes:
        url: With its query, all escaped.
        headers: In order; cookies are in `cookies`.
        content: The body; None where there is none.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    cookies: tuple[str, ...] = ()
    content: bytes | None = None


def make_request(plan: Plan, arguments: JsonObject, *, server: str, idempotency_key: str | None = None) -> Request:
    """The request that a call is.

    Args:
        plan: Of the operation.
        arguments: They fit the plan's schema.
        server: The address of the server, without a slash at its end.
        idempotency_key: Sent where the service takes one.

    Raises:
        ArgumentsError: A value cannot be carried where it belongs.
    """
    given = {name: (plan.parameters[name], value) for name, value in arguments.items() if name in plan.parameters}
    path, _, fixed = _path(plan, arguments).partition("?")
    queries = [in_query(each.writing, value) for each, value in given.values() if each.place == "query"]
    query = joined([fixed, *queries])
    headers = [("Accept", ACCEPT)]
    for parameter, value in given.values():
        if parameter.place == "header":
            headers.append((parameter.name, _checked_header(parameter.name, in_header(parameter.writing, value))))
    if plan.key is not None and idempotency_key is not None:
        headers.append((plan.key.name, idempotency_key))
    cookies = [
        text for each, value in given.values() if each.place == "cookie" for text in in_cookie(each.writing, value)
    ]
    sent = None if plan.body is None else _content(plan.body, _body_arguments(plan, arguments))
    if sent is not None:
        headers.append(("Content-Type", sent[1]))
    return Request(
        method=plan.operation.method,
        url=f"{server}{path}{'?' if query else ''}{query}",
        headers=tuple(headers),
        cookies=tuple(cookies),
        content=None if sent is None else sent[0],
    )


def _path(plan: Plan, arguments: JsonObject) -> str:
    by_name = {each.name: (argument, each) for argument, each in plan.parameters.items() if each.place == "path"}
    # Between the places the text is the document's own.
    pieces = [
        _value_in_path(*by_name[piece], arguments) if index % 2 else quote(piece, safe=_SAFE_IN_PATH)
        for index, piece in enumerate(_PLACE.split(plan.operation.path.partition("#")[0]))
    ]
    path = "".join(pieces)
    for segment in path.partition("?")[0].split("/"):
        if segment.replace("%2E", ".") in {".", ".."}:
            raise ArgumentsError(
                f"A part of the address cannot be {segment!r}: it would lead to another address. Give the value itself."
            )
    return path if path.startswith("/") else f"/{path}"


def _value_in_path(argument: str, parameter: Parameter, arguments: JsonObject) -> str:
    value = arguments.get(argument)
    text = "" if value is None else in_path(parameter.writing, value)
    if not text:
        raise ArgumentsError(f"`{argument}` is a part of the address and cannot be empty. Give its value.")
    return text


def _checked_header(name: str, text: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise ArgumentsError(f"`{name}` is sent as a header, which cannot hold line breaks, found {text!r:.80}.")
    if text != text.strip():
        raise ArgumentsError(
            f"`{name}` is sent as a header, which cannot begin or end with spaces, found {text!r:.80}."
        )
    return text


def _body_arguments(plan: Plan, arguments: JsonObject) -> JsonObject:
    """The properties of the body, by name; what the document does not name goes there as it is."""
    return {plan.fields.get(name, name): value for name, value in arguments.items() if name not in plan.parameters}


def _content(body: Body, arguments: JsonObject) -> tuple[bytes, str] | None:
    """The body and its media type; None where none is sent."""
    if body.whole is not None:
        return _whole(body, arguments) if WHOLE_BODY in arguments else None
    if not arguments and not body.is_required:
        return None
    match body.kind:
        case "urlencoded":
            return urlencoded(arguments, body.encodings), body.media_type
        case "multipart":
            return multipart(arguments, body.encodings)
        case _:
            return json_bytes(arguments), body.media_type


def _whole(body: Body, arguments: JsonObject) -> tuple[bytes, str]:
    value = arguments[WHOLE_BODY]
    match body.kind:
        case "json":
            return json_bytes(value), body.media_type
        case "bytes":
            data, media_type, _ = file_content(value, name=WHOLE_BODY)
            return data, media_type if "*" in body.media_type else body.media_type
        case "text":
            return scalar_text(value).encode(), _with_charset(body.media_type)
        case _ if not isinstance(value, dict):
            raise ArgumentsError(f"`{WHOLE_BODY}`: expected an object, whose properties are the fields of a form.")
        case "urlencoded":
            return urlencoded(value, body.encodings), body.media_type
        case _:
            return multipart(value, body.encodings)


def _with_charset(media_type: str) -> str:
    return media_type if "charset" in media_type.lower() or "*" in media_type else f"{media_type}; charset=utf-8"
