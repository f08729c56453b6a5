"""Which servers there are, read from what a program or a person gives: the file that desktop clients use, or less.

Texts may name environment variables as `${NAME}` or `${NAME:-instead}`; nothing else is looked up. What a header or a
variable holds whose name says that it is a secret is never shown, nor is any longer value of a header. Deliberately
not here: reaching the servers (`client`).
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, get_args
from urllib.parse import urlsplit

from wieldy.connect.mcp.client.sdk import Address
from wieldy.connect.mcp.client.stdio import Command
from wieldy.connect.mcp.sendable import why_no_argument, why_no_header, why_no_url, why_no_variable
from wieldy.core.errors import UsageError
from wieldy.core.json import parse_json
from wieldy.run.results.masks import SHORTEST_SECRET

if TYPE_CHECKING:
    from os import PathLike

McpConfig: TypeAlias = "str | PathLike[str] | Mapping[str, Any] | Iterable[str] | object"
"""A file, a command line, a URL, a command as a list, what such a file holds, or a server object of the SDK."""

ServerEffect: TypeAlias = Literal["read", "idempotent", "unsafe"]
"""What can be said of a tool of a server; the protocol knows neither keys nor a question what happened."""

DEFAULT_TIMEOUT_S: Final = 120.0
"""How long a call may take, unless a server's entry says otherwise."""

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_SECRET_NAME: Final = re.compile(
    r"key|token|secret|passw|auth|credential|cookie"
    r"|(?<![a-z])(?:cert|creds?|dsn|jwt|otp|pass|pat|pin|pw|pwd|salt|sas|sig|signature)(?![a-z])",
    re.IGNORECASE,
)
_PLAIN_NAMES: Final = ("PWD", "OLDPWD")
"""What shells call the folders that they are in."""
_SHORTEST_VALUE: Final = 8
"""Of headers whose names say nothing; what is shorter, such as a year, stands in other texts by chance."""
_SCHEMES: Final = ("http://", "https://")
_TYPES: Final[Mapping[str, str]] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
    "sse": "sse",
}
_OF_COMMANDS: Final = ("command", "args", "env", "cwd")
_OF_URLS: Final = ("url", "headers", "auth")
_OF_ALL: Final = ("type", "transport", "trusted", "timeout_s", "effects", "tools", "at_once")
# Other clients' own, which mean nothing here and may stand there all the same.
_OF_OTHERS: Final = ("alwaysAllow", "autoApprove", "description", "disabled", "env_file", "icon", "name", "timeout")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """One server.

    Attributes:
        name: As the program calls it; None where it is the only one and has none.
        target: How it is reached: a command, an address, or an object of the SDK.
        is_trusted: Whether what it says of its tools counts, and whether what it returns is anybody's words but a
            stranger's.
        timeout_s: How long a call may take, in seconds.
        effects: What calls do, by its own names of the tools; stands above whatever it says.
        tools: Which of its tools are offered, by its own names; None for all.
        at_once: How many requests may be under way.
        refuses_changes: Whether a tool that the server describes differently by now is not called.
        passes_on: Whether what it asks, logs and answers goes to the client that made the call, as in a gateway.
        is_shared: Whether calls of several principals may go over one session with it.
        forwards: The names of headers of that client's requests that are passed on to it.
        most_characters: How many characters the texts of an answer may have together; None for any number.
        secrets: What must never be shown, by name.
    """

    name: str | None
    target: Command | Address | object
    is_trusted: bool = False
    timeout_s: float = DEFAULT_TIMEOUT_S
    effects: Mapping[str, ServerEffect] = field(default_factory=dict[str, ServerEffect])
    tools: tuple[str, ...] | None = None
    at_once: int = 16
    refuses_changes: bool = False
    passes_on: bool = False
    is_shared: bool = True
    forwards: tuple[str, ...] = ()
    most_characters: int | None = None
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def title(self) -> str:
        """What it is called in messages."""
        if self.name is not None:
            return f"the MCP server {self.name!r}"
        return (
            f"the MCP server at {shown_url(self.target.url)}" if isinstance(self.target, Address) else "the MCP server"
        )


def read_config(config: McpConfig, *, environment: Mapping[str, str]) -> tuple[ServerConfig, ...]:
    """The servers that are meant, in order.

    Args:
        config: See `McpConfig`.
        environment: Where `${NAME}` is looked up.

    Raises:
        UsageError: It is none of these, or says something that cannot be; the text names the place.
    """
    if isinstance(config, Mapping):
        return _of_mapping(cast("Mapping[str, Any]", config), environment, place="the configuration")
    if isinstance(config, Path) or (isinstance(config, str) and config.strip().lower().endswith(".json")):
        return _of_file(Path(config).expanduser(), environment)
    if isinstance(config, str):
        return (_of_text(config.strip(), environment),)
    if isinstance(config, list | tuple):
        entry = _command_entry(list(cast("Iterable[object]", config)))
        return (_server(None, entry, environment, place="the command"),)
    if hasattr(config, "run"):
        return (ServerConfig(name=None, target=config),)
    raise UsageError(
        "Expected servers as a file, a command line, a URL, a list, a dictionary with `mcpServers` or a server object, "
        f"found {type(config).__name__}."
    )


def shown_url(url: str) -> str:
    """The URL for people: without credentials, query and fragment."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _of_file(path: Path, environment: Mapping[str, str]) -> tuple[ServerConfig, ...]:
    try:
        content: object = parse_json(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: the file cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: expected JSON with `mcpServers`, found something else: {error}.") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path}: expected an object with `mcpServers`, found {type(content).__name__}.")
    return _of_mapping(cast("dict[str, Any]", content), environment, place=str(path))


def _of_mapping(content: Mapping[str, Any], environment: Mapping[str, str], *, place: str) -> tuple[ServerConfig, ...]:
    servers: object = content.get("mcpServers", content.get("servers"))
    if servers is None and ("command" in content or "url" in content):
        return (_server(None, content, environment, place=place),)
    if not isinstance(servers, Mapping) or not servers:
        raise UsageError(
            f"{place}: expected `mcpServers` with an entry for each server, such as "
            '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}; found '
            f"{', '.join(map(repr, content)) or 'nothing'}."
        )
    entries = cast("Mapping[str, object]", servers)
    return tuple(_entry(name, entry, environment, place=place) for name, entry in entries.items())


def _entry(name: str, entry: object, environment: Mapping[str, str], *, place: str) -> ServerConfig:
    where = f"{place}, server {name!r}"
    if not isinstance(entry, Mapping):
        if hasattr(entry, "run"):
            return ServerConfig(name=name, target=entry)
        raise UsageError(f"{where}: expected an object with `command` or `url`, found {type(entry).__name__}.")
    return _server(name, cast("Mapping[str, Any]", entry), environment, place=where)


def _of_text(text: str, environment: Mapping[str, str]) -> ServerConfig:
    if text.lower().startswith(_SCHEMES):
        return _server(None, {"url": text}, environment, place="the URL")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"Expected a command line, a URL or a file, found {text!r}: {error}.") from error
    return _server(None, _command_entry(list(words)), environment, place="the command")


def _command_entry(words: list[object]) -> dict[str, Any]:
    if not words:
        raise UsageError("Expected a command that starts a server, found an empty one.")
    return {"command": words[0], "args": words[1:]}


def _server(name: str | None, entry: Mapping[str, Any], environment: Mapping[str, str], *, place: str) -> ServerConfig:
    reader = _Reader(entry, environment, place)
    kind = reader.kind()
    reader.refuse_unknown((*_OF_ALL, *_OF_OTHERS, *(_OF_COMMANDS if kind == "stdio" else _OF_URLS)))
    target = reader.command() if kind == "stdio" else reader.address(is_sse=kind == "sse")
    return ServerConfig(
        name=name,
        target=target,
        is_trusted=reader.one("trusted", bool, False),
        timeout_s=reader.number("timeout_s", DEFAULT_TIMEOUT_S),
        effects=cast("Mapping[str, ServerEffect]", reader.effects()),
        tools=tuple(reader.texts("tools")) if "tools" in entry else None,
        at_once=reader.integer("at_once", 16),
        secrets=reader.secrets,
    )


class _Reader:
    """Reads one entry, with the place in what is said, and remembers what must not be shown."""

    def __init__(self, entry: Mapping[str, Any], environment: Mapping[str, str], place: str) -> None:
        self._entry = entry
        self._environment = environment
        self._place = place
        self.secrets: dict[str, str] = {}

    def kind(self) -> str:
        said = self._entry.get("type", self._entry.get("transport"))
        if said is not None and said not in _TYPES:
            raise self._wrong("type", f"one of {', '.join(_TYPES)}", said)
        has_command, has_url = "command" in self._entry, "url" in self._entry
        if has_command == has_url:
            raise UsageError(
                f"{self._place}: expected either `command` or `url`, found {'both' if has_url else 'none'}."
            )
        kind = _TYPES[said] if isinstance(said, str) else ("stdio" if has_command else "http")
        if (kind == "stdio") != has_command:
            raise self._wrong("type", "'stdio' with `command`, another with `url`", said)
        return kind

    def refuse_unknown(self, known: Iterable[str]) -> None:
        known = tuple(known)
        unknown = [name for name in self._entry if name not in known]
        if unknown:
            raise UsageError(
                f"{self._place}: expected {', '.join(name for name in known if name not in _OF_OTHERS)}; found "
                f"{', '.join(map(repr, unknown))}."
            )

    def command(self) -> Command:
        environment = self.pairs("env", are_hidden=False)
        for name in environment:
            self._check(f"env.{name}", why_no_variable(name))
        folder = self._entry.get("cwd")
        return Command(
            program=self._expanded("command", self.one("command", str, "")),
            arguments=tuple(self.texts("args")),
            environment=environment,
            folder=None if folder is None else Path(self._expanded("cwd", self.one("cwd", str, ""))).expanduser(),
        )

    def address(self, *, is_sse: bool) -> Address:
        url = self._expanded("url", self.one("url", str, ""))
        self._check("url", why_no_url(url))
        if (password := urlsplit(url).password) is not None:
            self._remember("url", password)
        headers = self.pairs("headers", are_hidden=True)
        for name, value in headers.items():
            self._check(f"headers.{name}", why_no_header(name, value))
        auth: object = self._entry.get("auth")
        if auth is not None and not hasattr(auth, "async_auth_flow"):
            raise self._wrong("auth", "an object of the HTTP library that logs in", auth)
        return Address(url=url, headers=headers, is_sse=is_sse, auth=auth)

    def pairs(self, name: str, *, are_hidden: bool) -> dict[str, str]:
        found: object = self._entry.get(name, {})
        if not isinstance(found, Mapping):
            raise self._wrong(name, "an object of texts", found)
        values: dict[str, str] = {}
        for key, value in cast("Mapping[object, object]", found).items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise self._wrong(f"{name}.{key}", "a text", value)
            values[key] = self._expanded(f"{name}.{key}", value)
            if _is_secret_name(key):
                self._remember(f"{name}.{key}", values[key])
            elif are_hidden:
                self._remember(f"{name}.{key}", values[key], shortest=_SHORTEST_VALUE)
        return values

    def effects(self) -> dict[str, str]:
        found: object = self._entry.get("effects", {})
        if not isinstance(found, Mapping):
            raise self._wrong("effects", "an object of tools and effects", found)
        effects = dict(cast("Mapping[str, Any]", found))
        for tool, effect in effects.items():
            if effect not in get_args(ServerEffect):
                raise self._wrong(f"effects.{tool}", f"one of {', '.join(get_args(ServerEffect))}", effect)
        return effects

    def texts(self, name: str) -> list[str]:
        found: object = self._entry.get(name, [])
        if not isinstance(found, list | tuple):
            raise self._wrong(name, "a list of texts", found)
        texts = list(cast("Iterable[object]", found))
        for text in texts:
            if not isinstance(text, str):
                raise self._wrong(name, "a list of texts", text)
        return [self._expanded(name, cast("str", text)) for text in texts]

    def one(self, name: str, kind: type[Any], otherwise: Any) -> Any:
        value: object = self._entry.get(name, otherwise)
        if not isinstance(value, kind):
            raise self._wrong(name, {bool: "true or false", str: "a text"}[kind], value)
        return value

    def number(self, name: str, otherwise: float) -> float:
        value: object = self._entry.get(name, otherwise)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            raise self._wrong(name, "a number above 0", value)
        return value

    def integer(self, name: str, otherwise: int) -> int:
        value = self.number(name, otherwise)
        if not isinstance(value, int):
            raise self._wrong(name, "a whole number above 0", value)
        return value

    def _expanded(self, name: str, text: str) -> str:
        def value(found: re.Match[str]) -> str:
            variable, otherwise = str(found[1]), cast("str | None", found[2])
            said = self._environment.get(variable, otherwise)
            if said is None:
                raise UsageError(
                    f"{self._place}, `{name}`: expected the environment variable {variable} to be set, found nothing. "
                    f"Set it, or give a value for where it is not set: ${{{variable}:-value}}."
                )
            if variable in self._environment and _is_secret_name(variable):
                self._remember(variable, said)
            return said

        expanded = _VARIABLE.sub(value, text)
        self._check(name, why_no_argument(expanded))
        return expanded

    def _check(self, name: str, reason: str) -> None:
        """Ends with an error where there is a reason."""
        if reason:
            raise UsageError(f"{self._place}, `{name}`: {reason}.")

    def _remember(self, name: str, value: str, *, shortest: int = SHORTEST_SECRET) -> None:
        words = value.split()
        secret = words[1] if len(words) == 2 else value  # a scheme before it, such as Bearer, is none
        if len(secret.strip()) >= shortest:
            self.secrets[name] = secret

    def _wrong(self, name: str, expected: str, found: object) -> UsageError:
        return UsageError(f"{self._place}, `{name}`: expected {expected}, found {found!r:.80}.")


def _is_secret_name(name: str) -> bool:
    return name not in _PLAIN_NAMES and _SECRET_NAME.search(name) is not None
