"""What a service answered, as a value for the tool to return, or as an error that says what to do.

Pure. JSON is data, other text is text, and everything else an image or a file. Law: no text that comes out of here
holds a secret that is known here. Deliberately not here: further pages (`paging`), and cutting what is long
(`run.results`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import PurePath
from typing import Final, cast
from urllib.parse import unquote, urlsplit

from wieldy.connect.rest.reading import one_line
from wieldy.core.errors import ToolError, TransientToolError
from wieldy.core.escape_sequences import without_sequences
from wieldy.core.json import JsonValue
from wieldy.core.media import FilePart, ImagePart, media_type_of, media_type_of_name
from wieldy.run.results.masks import Mask
from wieldy.tools.present import Presented, present

MAX_QUOTED: Final = 800
"""How much of a service's own words an error repeats, in characters."""

_TRANSIENT: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_NOTHING_DONE: Final = frozenset({425, 429})
_TEXTS: Final = ("text/", "application/xml", "application/yaml", "application/x-yaml", "application/javascript")
_FILE_NAME: Final = re.compile(r"filename\*?=(?:UTF-8'[^']*')?\"?([^\";]+)", re.IGNORECASE)
_CHARSET: Final = re.compile(r"charset=\"?([^\";\s]+)", re.IGNORECASE)
_MEDIA_TYPE: Final = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
_NOT_SHOWN: Final = re.compile(r"(/?)\s*(script|style)\b", re.IGNORECASE)
"""The beginning of a tag of HTML that stands around, or ends, what browsers do not show."""
_ADVICE: Final[Mapping[int, str]] = {
    400: "Correct the arguments.",
    401: "The service does not accept who asks. Say that its credentials have to be seen to.",
    403: "It is not allowed with these credentials. Say so, or go on without it.",
    404: "There is no such thing. Check the identifiers, or look for it first.",
    405: "The service does not do this there.",
    409: "It does not fit what is there by now. Look at the present state, then decide.",
    410: "It is not there any more.",
    412: "Somebody else changed it meanwhile. Look at the present state, then decide.",
    413: "It is too large. Send less.",
    415: "The service does not take this kind of content.",
    422: "Correct the arguments.",
    428: "The service wants to be told which state is meant.",
    451: "It is withheld for legal reasons.",
}
_HEAD_FIELDS: Final = ("content-type", "content-length", "last-modified", "etag", "location", "allow", "link")


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer.

    Attributes:
        headers: By name in lower case.
        url: Where it came from in the end.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes
    url: str

    @property
    def media_type(self) -> str:
        """What the service says that it is, in lower case and without parameters; empty if it does not say."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_success(self) -> bool:
        """Whether it answers the request."""
        return 200 <= self.status < 300


def value_of(response: Response, *, method: str, mask: Mask) -> object:
    """What the tool returns: JSON, text, an image or a file; None where there is nothing."""
    if method == "HEAD" or (method == "OPTIONS" and not response.content):
        fields = {name: response.headers[name] for name in _HEAD_FIELDS if name in response.headers}
        return mask.value(cast("JsonValue", {"status": response.status, **fields}))
    if not response.content:
        return None
    found, value = _as_json(response)
    if found:
        return mask.value(value) if mask else value
    text = _as_text(response)
    if text is not None:
        return mask.text(text)
    return _as_file(response, mask)


def presented(value: object, *, note: str) -> object:
    """The value, with a remark for the model below it if there is one."""
    if not note:
        return value
    shown = present(value, None)
    return Presented(text=shown.text, structured=shown.structured, parts=shown.parts, note=note)


def failure_of(
    response: Response,
    *,
    name: str,
    mask: Mask,
    retry_after_s: float | None,
    missing: Sequence[str] = (),
    unsupported: Sequence[str] = (),
) -> ToolError:
    """The error that an answer is which does not answer the request.

    Args:
        response: The answer.
        name: The tool.
        mask: Hides secrets that the service repeats.
        retry_after_s: How long it asks to be left alone, in seconds.
        missing: Security schemes of which no secret was given.
        unsupported: What the service demands and nobody here can give it, in sentences.
    """
    status = response.status
    sentences = [f"`{name}` failed: the service answered {status}{_phrase(status)}."]
    said = _words(response, mask)
    if said:
        sentences.append(f"It says: {said}")
    if 300 <= status < 400 and "location" in response.headers:
        sentences.append("It redirects, which was not followed any further.")
    if status in {401, 403} and unsupported:
        sentences.append(f"Say so, asking again does not help: {'; '.join(unsupported)}.")
    elif status in {401, 403} and missing:
        sentences.append(f"No credentials were given for {' or '.join(missing)}: say so, they have to be configured.")
    elif advice := _ADVICE.get(status):
        sentences.append(advice)
    text = " ".join(sentences)
    if status in _TRANSIENT:
        return TransientToolError(text, retry_after_s=retry_after_s, nothing_done=status in _NOTHING_DONE)
    return ToolError(text)


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""


def _as_json(response: Response) -> tuple[bool, JsonValue]:
    kind = response.media_type
    is_said = kind.endswith(("/json", "+json")) or "json" in kind
    if not is_said and not (kind in {"", "text/plain"} and response.content.lstrip()[:1] in {b"{", b"["}):
        return False, None
    try:
        return True, cast("JsonValue", json.loads(response.content.decode("utf-8-sig")))
    except (ValueError, RecursionError):
        return False, None  # it is shown as the text that it is


def _as_text(response: Response) -> str | None:
    said = _CHARSET.search(response.headers.get("content-type", ""))
    kind = response.media_type
    is_text = kind.startswith(_TEXTS) or kind.endswith(("+xml", "+yaml", "json")) or not kind or said is not None
    if not is_text or media_type_of(response.content):
        return None
    for encoding in (said[1] if said else "utf-8-sig", "utf-8-sig"):
        try:
            return response.content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return response.content.decode("utf-8", "replace") if kind else None


def _as_file(response: Response, mask: Mask) -> ImagePart | FilePart:
    kind, name = response.media_type, _file_name(response, mask)
    if kind == "application/octet-stream" or not _MEDIA_TYPE.fullmatch(kind) or mask.text(kind) != kind:
        kind = media_type_of(response.content) or media_type_of_name(name) or "application/octet-stream"
    if kind.startswith("image/"):
        return ImagePart.from_bytes(response.content, media_type=kind)
    return FilePart.from_bytes(response.content, name=name, media_type=kind)


def _file_name(response: Response, mask: Mask) -> str:
    named = _FILE_NAME.search(response.headers.get("content-disposition", ""))
    name = unquote(named[1]) if named else PurePath(unquote(urlsplit(response.url).path)).name
    return _one_line(PurePath(name.replace("\\", "/")).name, mask, limit=100) or "file"


def _words(response: Response, mask: Mask) -> str:
    """What the service says of a failure, on one line."""
    found, value = _as_json(response)
    if found:
        text = json.dumps(value, ensure_ascii=False)
    else:
        text = _as_text(response) or ""
        if "html" in response.media_type or text.lstrip()[:1] == "<":
            text = _without_tags(text)
    return _one_line(without_sequences(text), mask, limit=MAX_QUOTED)


def _one_line(text: str, mask: Mask, *, limit: int) -> str:
    # Before it is cut, which would leave a part of a secret; and after, since what stood between its parts is gone.
    return mask.text(one_line(mask.text(text), limit=limit))


def _without_tags(text: str) -> str:
    """What a page of HTML shows.

    Cost: linear in the text, whatever it is.
    """
    first, *others = text.split("<")
    shown, hidden_by = [first], ""
    for piece in others:
        tag, end, following = piece.partition(">")
        found = _NOT_SHOWN.match(tag) if end else None
        if found and not hidden_by and not found[1]:
            hidden_by = found[2].lower()
        elif found and found[1] and found[2].lower() == hidden_by:
            hidden_by = ""
        if not hidden_by:
            shown.append(f" {following}" if end else f"<{piece}")
    return "".join(shown)
