"""What a service wants to know of who calls, and the secrets that answer it.

Secrets are put into a request at the last moment, by `Credentials.apply`, and stand in nothing else: not in a plan, a
tool, an error or a `repr`. Deliberately not here: fetching tokens (`tokens`), and to whom requests go (`client`).

Source: OpenAPI 3.1.1, 4.8.27 "Security Scheme Object" and 4.8.30 "Security Requirement Object"; RFC 7617 and RFC 6750.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast
from urllib.parse import quote

from wieldy.connect.rest.documents import Documents, Node, UnreadableError
from wieldy.connect.rest.reading import list_of, object_of, text_of
from wieldy.core.errors import UsageError
from wieldy.run.results.masks import SHORTEST_SECRET, Mask
from wieldy.schema import nearest

Secret: TypeAlias = "str | Mapping[str, str]"
"""A key or a token; `user:password`, or these by name; or `client_id`, `client_secret` and perhaps `scope`."""
Way: TypeAlias = Literal["header", "query", "cookie", "basic", "bearer"]

_CLIENT: Final = frozenset({"client_id", "client_secret", "scope", "token_url"})
_BASIC: Final = frozenset({"username", "password"})
_BY_CHALLENGE: Final = frozenset(
    {"concealed", "digest", "dpop", "gnap", "hoba", "mutual", "negotiate", "ntlm", "oauth", "privatetoken"}
    | {"scram-sha-1", "scram-sha-256", "vapid"}
)
"""Kinds of HTTP authentication that answer each request or challenge anew, so that no secret can simply be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """One way in which a service is told who calls.

    Attributes:
        name: In the document.
        way: How the secret is sent.
        parameter: Of a key: the name of the header, the cookie or the query parameter.
        prefix: What stands in front of a secret in the header `Authorization`.
        token_url: Where a client gets a token for its own secret; empty if that is not offered.
    """

    name: str
    way: Way
    parameter: str = "Authorization"
    prefix: str = ""
    token_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schemes:
    """The security schemes of a document.

    Attributes:
        known: Those that can be answered, by name.
        unsupported: The others, each with what it wants and why that cannot be had.
    """

    known: Mapping[str, Scheme]
    unsupported: Mapping[str, str]


@dataclass(slots=True, kw_only=True)
class Secrets:
    """What is added to one request: written, and never shown."""

    headers: list[tuple[str, str]]
    query: list[str]
    cookies: list[str]

    def __repr__(self) -> str:
        return "Secrets(...)"


class Credentials:
    """The secrets of one service, by the names of its security schemes.

    Raises:
        UsageError: One of them is no secret.
    """

    __slots__ = ("_secrets",)

    def __init__(self, secrets: Mapping[str, Secret] | None) -> None:
        self._secrets: dict[str, Secret] = {name: _checked(name, secret) for name, secret in (secrets or {}).items()}
        Mask(self.masked)  # what cannot be masked is refused here, and not in the middle of a call

    def __repr__(self) -> str:
        return f"Credentials({', '.join(self._secrets)})"

    def __contains__(self, name: str) -> bool:
        return name in self._secrets

    def check(self, schemes: Schemes) -> None:
        """Nothing, if the document has a scheme for every secret, and the secret can answer it.

        Raises:
            UsageError: It has not, or it cannot.
        """
        for name in self._secrets:
            if name in schemes.unsupported:
                raise UsageError(f"The credential {name!r} cannot be used: {schemes.unsupported[name]}.")
            if name not in schemes.known:
                known = list(schemes.known)
                hint = nearest(name, known)
                instead = f"did you mean {hint!r}?" if hint else f"it has {', '.join(map(repr, known)) or 'none'}."
                raise UsageError(
                    f"Expected credentials for security schemes of the document, found {name!r}; {instead}"
                )
            client = self.client_of(schemes.known[name])
            if client is not None and not (client.get("token_url") or schemes.known[name].token_url):
                raise UsageError(
                    f"The credential {name!r} is a client's, and the document says not where a client gets a token "
                    "for itself: give a token that a person has got, or say token_url."
                )

    def client_of(self, scheme: Scheme) -> Mapping[str, str] | None:
        """The secret, if it is that of a client which has to get a token for it."""
        secret = self._secrets.get(scheme.name)
        return secret if isinstance(secret, Mapping) and "client_id" in secret else None

    @property
    def masked(self) -> dict[str, str]:
        """Every text that must never be shown, by a name for it."""
        found: dict[str, str] = {}
        for name, secret in self._secrets.items():
            if isinstance(secret, str):
                password = secret.partition(":")[2]
                found |= {name: secret, f"{name} (2)": password}
            else:
                found[name] = secret.get("password") or secret.get("client_secret") or ""
        # Shorter ones stand in every text by chance.
        return {name: text for name, text in found.items() if len(text.strip()) >= SHORTEST_SECRET}

    def apply(self, scheme: Scheme, to: Secrets, *, token: str | None = None) -> None:
        """The secret of the scheme is added to what goes with one request."""
        secret = token if token is not None else _as_text(self._secrets[scheme.name])
        match scheme.way:
            case "query":
                to.query.append(f"{quote(scheme.parameter, safe='')}={quote(secret, safe='')}")
            case "cookie":
                to.cookies.append(f"{scheme.parameter}={quote(secret, safe='')}")
            case "basic":
                to.headers.append(("Authorization", f"Basic {base64.b64encode(secret.encode()).decode('ascii')}"))
            case "header" | "bearer":
                has_prefix = bool(scheme.prefix) and secret.lower().startswith(scheme.prefix.lower())
                to.headers.append((scheme.parameter, secret if has_prefix else scheme.prefix + secret))


def read_schemes(root: Node, documents: Documents) -> Schemes:
    """The security schemes of a document."""
    if text_of(root.object.get("swagger")):
        holder = root.part("securityDefinitions")
    else:
        holder = root.part("components", "securitySchemes")
    known: dict[str, Scheme] = {}
    unsupported: dict[str, str] = {}
    for name in holder.object:
        try:
            scheme = _scheme(name, documents.follow(holder.part(name)))
        except UnreadableError as error:
            scheme = str(error)
        if isinstance(scheme, Scheme):
            known[name] = scheme
        else:
            unsupported[name] = scheme
    return Schemes(known=known, unsupported=unsupported)


def unanswerable(requirements: Sequence[Sequence[str]], schemes: Schemes) -> tuple[str, ...]:
    """What an operation demands that cannot be answered, in sentences; nothing where it allows anything else."""
    if not requirements or any(not set(names) & schemes.unsupported.keys() for names in requirements):
        return ()
    wanted = dict.fromkeys(name for names in requirements for name in names if name in schemes.unsupported)
    return tuple(f"the security scheme {name!r} cannot be answered: {schemes.unsupported[name]}" for name in wanted)


def requirements_of(root: Node, operation: Node) -> tuple[tuple[str, ...], ...]:
    """The alternatives of which one must be answered: for each the names of its schemes; none if nobody has to."""
    said = operation.object.get("security")
    listed = list_of(said if isinstance(said, list) else root.object.get("security"))
    return tuple(tuple(object_of(each)) for each in listed)


def places_of(requirements: Sequence[Sequence[str]], schemes: Mapping[str, Scheme]) -> frozenset[tuple[str, str]]:
    """Where in a request credentials may stand, by place and name; names of headers in small letters."""
    wanted = [schemes[name] for names in requirements for name in names if name in schemes]
    return frozenset(
        (each.way, each.parameter) if each.way in ("query", "cookie") else ("header", each.parameter.lower())
        for each in wanted
    )


def chosen(
    requirements: Sequence[Sequence[str]], schemes: Mapping[str, Scheme], credentials: Credentials
) -> tuple[tuple[Scheme, ...], tuple[str, ...]]:
    """The schemes that are answered, and the names of those that should be and cannot.

    The first alternative of which every secret is known is taken; where there is none such, nothing is sent: half an
    answer would only give a secret away.
    """
    for names in requirements:
        if names and all(name in schemes and name in credentials for name in names):
            return tuple(schemes[name] for name in names), ()
    if not requirements or any(not names for names in requirements):
        return (), ()
    return (), tuple(dict.fromkeys(name for names in requirements for name in names))


def _scheme(name: str, node: Node) -> Scheme | str:
    """The scheme; or, of one that cannot be answered, why."""
    value = node.object
    kind, place = text_of(value.get("type")).lower(), text_of(value.get("in")).lower()
    if kind == "apikey" and place in {"header", "query", "cookie"}:
        return Scheme(name=name, way=cast("Way", place), parameter=text_of(value.get("name")) or "Authorization")
    if kind in {"basic", "http"}:
        return _http_scheme(name, "basic" if kind == "basic" else text_of(value.get("scheme")) or "Bearer")
    if kind in {"oauth2", "openidconnect"}:
        return Scheme(name=name, way="bearer", prefix="Bearer ", token_url=_token_url(value))
    if kind == "mutualtls":
        return (
            "it wants a certificate of the caller (mutual TLS), which is not supported; a proxy on this machine that "
            "has one can be named as server="
        )
    return f"it is of the type {kind!r}" + (f" in {place!r}" if place else "") + ", which is not known"


def _http_scheme(name: str, scheme: str) -> Scheme | str:
    if scheme.lower() == "basic":
        return Scheme(name=name, way="basic")
    if scheme.lower() in _BY_CHALLENGE:
        return (
            f"it wants HTTP authentication of the kind {scheme!r}, which answers each request anew and is not supported"
        )
    return Scheme(name=name, way="bearer", prefix="Bearer " if scheme.lower() == "bearer" else f"{scheme} ")


def _token_url(value: Mapping[str, object]) -> str:
    if text_of(value.get("flow")) == "application":
        return text_of(value.get("tokenUrl"))
    return text_of(object_of(object_of(value.get("flows")).get("clientCredentials")).get("tokenUrl"))


def _as_text(secret: Secret) -> str:
    return secret if isinstance(secret, str) else f"{secret['username']}:{secret['password']}"


def _checked(name: object, secret: object) -> Secret:
    if isinstance(secret, str):
        # Read from a file, a secret often ends with a line break that it has nowhere else.
        text = secret.strip()
        if text and text.isprintable():
            return text
        raise UsageError(f"Expected the credential {name!r} to be a text on one line, found another one.")
    if isinstance(secret, Mapping):
        parts = {str(part): text for part, text in cast("Mapping[object, object]", secret).items()}
        is_client = {"client_id", "client_secret"} <= parts.keys() <= _CLIENT
        if (is_client or parts.keys() == _BASIC) and all(isinstance(text, str) for text in parts.values()):
            return cast("dict[str, str]", parts)
    raise UsageError(
        f"Expected the credential {name!r} to be a text, or a dictionary with username and password, or with client_id "
        "and client_secret and perhaps scope and token_url; found something else."
    )
