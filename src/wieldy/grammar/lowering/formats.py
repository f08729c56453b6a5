r"""Texts of a `format`, as regular expressions: what is written under them is of that format, whoever checks it.

Every expression allows a part of its format that all validators agree on; `limits` says which part. Formats that no
small expression can catch are not here: a validator checks them (`CHECKED`), or nobody does.
Sources: RFC 3339 (dates, times, durations), 5321 and 1123 (mail, hosts), 4291 (IPv6), 3986 and 3987 (URI, IRI),
6570 (URI templates), 6901 (JSON pointers), 4648 (Base64), 9562 (UUID).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from wieldy.grammar.lowering.expressions import language_of
from wieldy.grammar.lowering.languages import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format as far as the mask writes it.

    Attributes:
        expression: Matches whole texts.
        most: Characters at most; None for any number.
        limits: What of the format is never written; empty if everything is.
    """

    expression: str
    most: int | None = None
    limits: str = ""

    @property
    def language(self) -> Language:
        """The texts that may be written, of whatever length."""
        return _language(self.expression)


CHECKED = frozenset({"idn-email", "idn-hostname", "regex"})
"""Formats that the validator knows and the mask does not."""


@lru_cache(maxsize=100)
def _language(expression: str) -> Language:
    return language_of(f"^(?:{expression})$")


_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_LEAP = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DATE = (
    f"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)"
)
_TIME = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_IN_DAY = "T(?:[0-9]{1,9}H(?:[0-9]{1,9}M(?:[0-9]{1,9}S)?)?|[0-9]{1,9}M(?:[0-9]{1,9}S)?|[0-9]{1,9}S)"
_DAYS = "(?:[0-9]{1,9}Y(?:[0-9]{1,9}M(?:[0-9]{1,9}D)?)?|[0-9]{1,9}M(?:[0-9]{1,9}D)?|[0-9]{1,9}D)"
_LABEL = "(?:[A-Za-z0-9]{1,63}|[A-Za-z0-9](?:-?[A-Za-z0-9]){0,31})"
_HOST = f"{_LABEL}(?:\\.{_LABEL})*"
_MAILBOX = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = f"{_BYTE}(?:\\.{_BYTE}){{3}}"
_HEX4 = "[0-9a-fA-F]{1,4}"
_LAST_32 = f"(?:{_HEX4}:{_HEX4}|{_IPV4})"
_IPV6 = "|".join(
    [
        f"(?:{_HEX4}:){{6}}{_LAST_32}",
        f"::(?:{_HEX4}:){{0,5}}{_LAST_32}",
        *(f"{_HEX4}(?::{_HEX4}){{0,{before}}}::(?:{_HEX4}:){{0,{4 - before}}}{_LAST_32}" for before in range(5)),
        f"(?:{_HEX4}(?::{_HEX4}){{0,5}})?::{_HEX4}",
        f"(?:{_HEX4}(?::{_HEX4}){{0,6}})?::",
    ]
)
_UNICODE = "\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"


def _uri(letters: str) -> tuple[str, str]:
    """The expressions of a URI and of a relative reference, whose segments may have these letters too."""
    plain = f"A-Za-z0-9._~!$&'()*+,;=\\-{letters}"
    character = f"(?:[{plain}:@]|%[0-9A-Fa-f]{{2}})"
    colonless = f"(?:[{plain}@]|%[0-9A-Fa-f]{{2}})"
    host = f"(?:[{plain}]|%[0-9A-Fa-f]{{2}})*"
    authority = f"//(?:(?:[{plain}:]|%[0-9A-Fa-f]{{2}})*@)?{host}(?::[0-9]{{0,4}})?(?:/{character}*)*"
    absolute = f"/(?:{character}+(?:/{character}*)*)?"
    tail = f"(?:\\?(?:{character}|[/?])*)?(?:#(?:{character}|[/?])*)?"
    whole = f"[A-Za-z][A-Za-z0-9+.-]*:(?:{authority}|{absolute}|{character}+(?:/{character}*)*)?{tail}"
    relative = f"(?:{authority}|{absolute}|{colonless}+(?:/{character}*)*)?{tail}"
    return whole, relative


_URI, _RELATIVE_URI = _uri("")
_IRI, _RELATIVE_IRI = _uri(_UNICODE)
_NO_LITERAL = "no addresses in brackets, ports of up to four digits"
_POINTER = "(?:/(?:[^~/]|~[01])*)*"
_VARIABLE = "(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*(?::[1-9][0-9]{0,3}|\\*)?"
_TEMPLATE = (
    "(?:[A-Za-z0-9!#$&()*+,./:;=?@\\[\\]_~\xa0-\ud7ff-]|%[0-9A-Fa-f]{2}"
    f"|\\{{[+#./;?&]?{_VARIABLE}(?:,{_VARIABLE})*\\}})*"
)

FORMATS: dict[str, Format] = {
    "date": Format(expression=_DATE, limits="from the year 1 on"),
    "time": Format(expression=_TIME, limits="with a capital Z, no leap seconds, up to nine digits of a second"),
    "date-time": Format(
        expression=f"{_DATE}T{_TIME}",
        limits="from the year 1 on, with capital T and Z, no leap seconds, up to nine digits of a second",
    ),
    "duration": Format(
        expression=f"P(?:{_DAYS}(?:{_IN_DAY})?|{_IN_DAY}|[0-9]{{1,9}}W)", limits="numbers of up to nine digits"
    ),
    "email": Format(
        expression=f"(?:{_MAILBOX}{{1,64}}|{_MAILBOX}(?:\\.?{_MAILBOX}){{0,31}})@{_HOST}",
        most=254,
        limits="no quoted names, no addresses in brackets, no doubled hyphens in hosts",
    ),
    "hostname": Format(expression=_HOST, most=253, limits="no doubled hyphens"),
    "ipv4": Format(expression=_IPV4),
    "ipv6": Format(expression=_IPV6),
    "uuid": Format(expression="[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "uri": Format(expression=_URI, limits=_NO_LITERAL),
    "uri-reference": Format(expression=f"{_URI}|{_RELATIVE_URI}", limits=_NO_LITERAL),
    "iri": Format(expression=_IRI, limits=f"{_NO_LITERAL}, characters of the basic plane"),
    "iri-reference": Format(
        expression=f"{_IRI}|{_RELATIVE_IRI}", limits=f"{_NO_LITERAL}, characters of the basic plane"
    ),
    "uri-template": Format(
        expression=_TEMPLATE, limits="characters of the basic plane, one-letter operators of RFC 6570"
    ),
    "json-pointer": Format(expression=_POINTER),
    "relative-json-pointer": Format(expression=f"(?:0|[1-9][0-9]{{0,8}})(?:#|{_POINTER})", limits="up to nine digits"),
    "byte": Format(
        expression="(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?",
        limits="Base64 with padding, as OpenAPI has it; no validator checks it",
    ),
}
