"""What stands behind a gateway: MCP servers, services with OpenAPI documents, and functions, each kept open.

One task holds each source open from the gateway's start to its end and shares it with all calls; one that cannot be
opened is tried again, ever less often, while the others serve. A source whose sessions must not be shared has one
toolset for each principal. Deliberately not here: names and what was accepted (`catalogue`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

import anyio
from anyio.abc import TaskStatus

from wieldy.connect.mcp.client.stdio import Command
from wieldy.core.errors import RunError, UsageError
from wieldy.core.foreign import single
from wieldy.gateway.forwarding import forwards
from wieldy.gateway.reading import Fields, naming
from wieldy.tools import Toolset

if TYPE_CHECKING:
    from wieldy.gateway.config import GatewayConfig
    from wieldy.gateway.references import References

Session: TypeAlias = Literal["shared", "principal"]
LoadFunctions: TypeAlias = Callable[[Path], Toolset]
Changed: TypeAlias = Callable[[str, str | None, str], None]

_OF_SOURCES: Final = ("session", "pinned", "as", "prefix", "forward_headers")
_OF_SERVICES: Final = (
    "document",
    "credentials",
    "server",
    "variables",
    "only",
    "effects",
    "trust",
    "timeout_s",
    "pinned",
    "prefix",
)
MOST_CHARACTERS: Final = 8 * 2**20
"""How many characters a server may answer with: while one such answer is masked and recorded, no other call goes on."""

_FIRST_WAIT_S: Final = 1.0
_LONGEST_WAIT_S: Final = 60.0
_SHARED: Final = ""
"""The owner of what all principals share; no principal has an empty name."""


@dataclass(slots=True, kw_only=True)
class Source:
    """One source.

    Attributes:
        kind: What it is called in messages.
        toolsets: By the principal whose sessions it holds; one for all under the empty name.
        prefix: What the gateway's names of its tools begin with; None where they keep their own.
        has_names: Whether the tools of its toolset have these names already.
        is_pinned: Whether its definitions must be accepted.
        secrets: What must never be shown, by name.
        failures: Why it is not open, by the names of `toolsets`.
    """

    name: str
    kind: Literal["mcp", "openapi", "functions"]
    toolsets: Mapping[str, Toolset]
    prefix: str | None
    has_names: bool
    is_pinned: bool
    secrets: Mapping[str, str] = field(repr=False)
    failures: dict[str, str] = field(default_factory=dict[str, str])

    def toolset_for(self, principal: str) -> Toolset | None:
        """What this principal's calls use; None while it is not open."""
        owner = principal if principal in self.toolsets else _SHARED
        return None if owner in self.failures else self.toolsets.get(owner)

    async def keep_open(
        self, owner: str, tell: Callable[[str], None], *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """The toolset is open until the task is cancelled; `task_status` says that it was tried once."""
        wait_s, is_first = _FIRST_WAIT_S, True
        while True:
            try:
                async with self.toolsets[owner]:
                    self.failures.pop(owner, None)
                    if is_first:
                        task_status.started()
                    else:
                        tell(f"{self.name}: it is there now.")
                    is_first, wait_s = False, _FIRST_WAIT_S
                    await anyio.sleep_forever()
            except (RunError, UsageError, OSError, BaseExceptionGroup) as error:
                found = single(error)
                if not isinstance(found, RunError | UsageError | OSError):
                    raise
                self.failures[owner] = str(found)
                tell(f"{self.name}: it is not there, and is tried again: {found}")
            if is_first:
                task_status.started()
            is_first = False
            await anyio.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)


def sources_of(
    config: GatewayConfig,
    *,
    environment: Mapping[str, str],
    load_functions: LoadFunctions,
    tell: Callable[[str], None],
    changed: Changed,
) -> tuple[Source, ...]:
    """The sources of a configuration, none of them open.

    Args:
        config: Which.
        environment: Where `${NAME}` of MCP servers is looked up.
        load_functions: Reads a Python file with tools.
        tell: Hears what a person should know.
        changed: Hears which source says that something has changed, for which principal (None for all), and what:
            `tools`, `prompts`, `resources`, or the address of a resource.

    Raises:
        UsageError: One cannot be as it is configured.
    """
    owners, references = tuple(config.callers), config.references
    found = [
        _server(name, entry, config.references, environment, owners, tell, changed)
        for name, entry in config.servers.items()
    ]
    found += [_service(name, entry, config.references) for name, entry in config.services.items()]
    for name, entry in config.functions.items():
        entry.only("file", "pinned", "prefix")
        file = entry.get("file", str, "")
        if not file:
            raise entry.wrong("file", "the path of a Python file", None)
        found.append(
            Source(
                name=name,
                kind="functions",
                toolsets={_SHARED: load_functions(references.path(file))},
                prefix=_prefix(name, entry),
                has_names=False,
                is_pinned=entry.get("pinned", bool, True),
                secrets={},
            )
        )
    if len(found) > 1 and (bare := next((each.name for each in found if each.prefix is None), None)):
        raise UsageError(
            f'{config.file}: {bare!r} has "prefix": false, which only the single source of a gateway can have: another '
            "one could pass its tools off as its own."
        )
    return tuple(found)


def _server(
    name: str,
    entry: Fields,
    references: References,
    environment: Mapping[str, str],
    owners: tuple[str, ...],
    tell: Callable[[str], None],
    changed: Changed,
) -> Source:
    from wieldy.connect.mcp.client.toolset import McpToolset  # noqa: PLC0415 - only where there are servers
    from wieldy.connect.mcp.config import read_config  # noqa: PLC0415

    session, prefix = _session(entry), _prefix(name, entry)
    own = entry.within("as")
    for each, overrides in own.items():
        if session == "shared" or each not in owners:
            raise UsageError(
                f'{overrides.place}: expected a principal of this gateway, and "session": "principal"; the principals '
                f"are {', '.join(map(repr, owners))}."
            )
    toolsets: dict[str, Toolset] = {}
    secrets: dict[str, str] = {}
    for owner in owners if session == "principal" else (_SHARED,):
        values = {key: value for key, value in entry.values.items() if key not in _OF_SOURCES}
        if owner in own:
            values |= own[owner].values
        written, known, places = _with_variables(values, references, entry.place)
        with naming(entry.place, instead_of=f"the configuration, server {name!r}"):
            (server,) = read_config({"mcpServers": {name: written}}, environment={**environment, **known})
        named = _named(server.secrets, known, places, source=name, owner=owner)
        secrets |= named
        kept = replace(
            server,
            target=_from_here(server.target, references),
            secrets=named,
            most_characters=MOST_CHARACTERS,
            name=prefix,
            refuses_changes=True,
            passes_on=True,
            is_shared=owner == _SHARED and len(owners) > 1,
            forwards=forwards(entry, server),
        )
        toolsets[owner] = McpToolset(
            (kept,), on_notice=lambda notice: tell(str(notice)), on_change=partial(changed, name, owner or None)
        )
    return Source(
        name=name,
        kind="mcp",
        toolsets=toolsets,
        prefix=prefix,
        has_names=True,
        is_pinned=entry.get("pinned", bool, True),
        secrets=secrets,
    )


def _service(name: str, entry: Fields, references: References) -> Source:
    from wieldy.connect import openapi  # noqa: PLC0415 - it brings an HTTP client along

    entry.only(*_OF_SERVICES)
    document: object = entry.values.get("document")
    if not isinstance(document, str | dict):
        raise entry.wrong("document", "a path, a URL or a document", document)
    secrets: dict[str, str] = {}
    credentials: dict[str, Any] = {}
    for scheme, said in entry.get("credentials", dict, {}).items():
        place = f"{entry.place}, credentials.{scheme}"
        if references.is_one(said):
            credentials[scheme] = secrets[f"{name}.{scheme}"] = references.read(said, place=place)
            continue
        credentials[scheme] = {}
        for part, value in Fields(said, place).values.items():
            is_secret = references.is_one(value)
            credentials[scheme][part] = references.read(value, place=place) if is_secret else value
            if is_secret:
                secrets[f"{name}.{scheme}.{part}"] = credentials[scheme][part]
    is_path = isinstance(document, str) and "://" not in document
    with naming(entry.place):
        toolset = openapi(
            references.path(cast("str", document)) if is_path else cast("Any", document),
            credentials=credentials,
            server=entry.get("server", str, "") or None,
            variables=entry.get("variables", dict, {}),
            only=entry.texts("only"),
            effects=entry.get("effects", dict, {}),
            trust=cast("Any", entry.get("trust", str, "untrusted")),
            timeout_s=entry.number("timeout_s", 60.0),
            output_schemas=True,
            response_bytes=MOST_CHARACTERS,
        )
    return Source(
        name=name,
        kind="openapi",
        toolsets={_SHARED: toolset},
        prefix=_prefix(name, entry),
        has_names=False,
        is_pinned=entry.get("pinned", bool, True),
        secrets=secrets,
    )


def _prefix(name: str, entry: Fields) -> str | None:
    return name if entry.get("prefix", bool, True) else None


def _session(entry: Fields) -> Session:
    said = entry.get("session", str, "shared")
    if said not in ("shared", "principal"):
        raise UsageError(f"{entry.place}, `session`: expected 'shared' or 'principal', found {said!r:.40}.")
    return "shared" if said == "shared" else "principal"


def _from_here(target: object, references: References) -> object:
    """The target, with paths that are relative to the configuration; a command runs there unless it says where."""
    if not isinstance(target, Command):
        return target
    program = target.program if Path(target.program).name == target.program else str(references.path(target.program))
    return replace(target, program=program, folder=references.path(str(target.folder or "")))


def _named(
    found: Mapping[str, str], known: Mapping[str, str], places: Mapping[str, str], *, source: str, owner: str
) -> dict[str, str]:
    """The secrets of a server by the places in the configuration where they stand, as they are shown."""
    end = f" of {owner}" if owner else ""
    named = {f"{source}.{places.get(key, key)}{end}": text for key, text in found.items()}
    for variable, text in known.items():
        name = f"{source}.{places[variable]}{end}"
        if named.setdefault(name, text) != text:  # what it is used for is only a part of it
            named[f"{name} as a whole"] = text
    return named


def _with_variables(
    values: Mapping[str, Any], references: References, place: str
) -> tuple[dict[str, Any], dict[str, str], dict[str, str]]:
    """The entry with a variable for each reference, what these hold, and where: so its reader knows them."""
    known: dict[str, str] = {}
    places: dict[str, str] = {}

    def read(value: Any, where: str) -> Any:
        if references.is_one(value):
            variable = f"WIELDY_SECRET_{len(known)}"
            known[variable] = references.read(value, place=f"{place}, {where}")
            places[variable] = where
            return f"${{{variable}}}"
        if isinstance(value, Mapping):
            entries = cast("Mapping[str, Any]", value)
            return {name: read(each, f"{where}.{name}") for name, each in entries.items()}
        if isinstance(value, list):
            return [read(each, f"{where}.{number}") for number, each in enumerate(cast("list[Any]", value), 1)]
        return value

    return {name: read(value, name) for name, value in values.items()}, known, places
