"""Where an operation is: the server that its document names, with the variables in its address.

Pure. Of several servers the first is taken, as the specification means it. An address without a host is meant from
where the document lies.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urljoin, urlsplit

from wieldy.connect.rest.documents import Node
from wieldy.connect.rest.reading import list_of, object_of, text_of, texts_of
from wieldy.core.errors import UsageError

_VARIABLE = re.compile(r"\{([^{}]*)\}")


def server_of(root: Node, item: Node, operation: Node, *, variables: Mapping[str, str]) -> tuple[str, str]:
    """The address of the server, without a slash at its end, or why there is none.

    Args:
        root: The document.
        item: What stands around the operation; its servers count more than the document's.
        operation: Its own count most.
        variables: Values for places in the address; the document's defaults stand where none is given.

    Returns:
        The address and an empty text, or an empty text and the reason.
    """
    if text_of(root.object.get("swagger")):
        return _finished(_of_version_2(root, operation), base=root.base)
    for holder in (operation, item, root):
        servers = list_of(holder.object.get("servers"))
        if servers:
            server = object_of(servers[0])
            return _finished(_filled(text_of(server.get("url")) or "/", server, variables), base=holder.base)
    return _finished("/", base=root.base)


def checked_variables(variables: Mapping[str, object]) -> dict[str, str]:
    """The values for places in addresses; a whole number, such as that of a port, is a text as well.

    Raises:
        UsageError: One is something else.
    """
    for name, value in variables.items():
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise UsageError(
                f"Expected variables= to give texts or whole numbers, found {type(value).__name__} for {name!r}."
            )
    return {name: str(value) for name, value in variables.items()}


def origin_of(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port: what a secret is meant for."""
    parts = urlsplit(url)
    return (
        parts.scheme.lower(),
        (parts.hostname or "").lower(),
        parts.port or {"http": 80, "https": 443}.get(parts.scheme),
    )


def check_server(url: str) -> str:
    """Why this is no address of a server; empty if it is one."""
    try:
        parts = urlsplit(url)
        port_is_good = parts.port is None or parts.port > 0
    except ValueError as error:
        return f"the server's address {url!r} cannot be read: {error}"
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_good:
        return (
            f"expected the address of a server such as https://api.example.com, found {url!r}; name it with server= "
            "(--server on the command line)"
        )
    if parts.username is not None or parts.password is not None:
        return "the server's address holds a password; give it as a credential instead"
    unfilled = _VARIABLE.findall(url)
    return (
        f"the server's address {url!r} has places without a value: give variables= for {unfilled}" if unfilled else ""
    )


def _finished(url: str, *, base: str) -> tuple[str, str]:
    try:
        if not urlsplit(url).scheme and base.startswith(("http://", "https://")):
            url = urljoin(base, url)
    except ValueError:
        return "", check_server(url)
    if "{" not in url:
        url = url.split("?", 1)[0].split("#", 1)[0]
    reason = check_server(url)
    return ("", reason) if reason else (url.rstrip("/"), "")


def _of_version_2(root: Node, operation: Node) -> str:
    schemes = texts_of(operation.object.get("schemes")) or texts_of(root.object.get("schemes"))
    host = text_of(root.object.get("host"))
    path = "/" + text_of(root.object.get("basePath")).strip("/")
    usable = [scheme.lower() for scheme in schemes if scheme.lower() in {"http", "https"}]
    if not host:
        return path
    scheme = "https" if "https" in usable or not usable else usable[0]
    if not usable and root.base.startswith("http://"):
        scheme = "http"
    return f"{scheme}://{host}{path}"


def _filled(url: str, server: Mapping[str, object], variables: Mapping[str, str]) -> str:
    known = object_of(server.get("variables"))

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in variables:
            return variables[name]
        variable = object_of(known.get(name))
        default = variable.get("default")
        choices = list_of(variable.get("enum"))
        found = default if default is not None else choices[0] if choices else None
        return str(found) if isinstance(found, str | int | float) and str(found) else match[0]

    return _VARIABLE.sub(value, url)
