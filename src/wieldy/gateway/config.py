"""What a gateway is made of, read from JSON or YAML: who may call, what stands behind it, and what calls are kept to.

    principals: {anna: {key: {env: ANNA_KEY}, tools: ["shop__*"], permissions: ["orders:read"]}}
    mcpServers: {time: {command: uvx, args: [mcp-server-time]}}
    services: {weather: {document: weather.json, credentials: {key: {env: WEATHER_KEY}}}}
    functions: {shop: {file: shop.py}}
    policy: {rules: [{decision: ask, reason: "...", effects: unsafe}]}

Secrets are references. Of the callers' keys only digests are kept. Deliberately not here: opening any of it
(`sources`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from wieldy.connect.serving.keys import Keys, digest_in, digest_of
from wieldy.core.errors import UsageError
from wieldy.core.principals import Principal
from wieldy.gateway.reading import Fields, naming
from wieldy.gateway.references import References
from wieldy.gateway.written import content_of
from wieldy.run.journal import is_url
from wieldy.run.policy import Rules, allow_all

if TYPE_CHECKING:
    from wieldy.run.policy import Policy

DEFAULT_PORT: Final = 8765
EVERYBODY: Final = "everybody"
"""On whose behalf calls are made where the configuration names nobody; only on the loopback."""

_ALL: Final = (
    "listen",
    "principals",
    "mcpServers",
    "services",
    "functions",
    "policy",
    "approvals",
    "journal",
    "pins",
    "instructions",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Somebody who may call.

    Attributes:
        tools: Patterns of the names that they are shown.
        key_digest: SHA-256 of their key; None where nobody needs one.
    """

    principal: Principal
    tools: tuple[str, ...] = ("*",)
    key_digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayConfig:
    """A gateway.

    Attributes:
        file: Where it was read from.
        callers: By name.
        servers: MCP servers, services with OpenAPI documents and files of functions, as they stand there, by name.
        wait_s: How long a call waits for a person's consent before its caller is told to come again, in seconds.
        journal: A path or a URL; None for what the program thinks fit.
        pins: The file of what was accepted.
        references: Where secrets and relative paths lead.
    """

    file: Path
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    callers: Mapping[str, Caller]
    servers: Mapping[str, Fields]
    services: Mapping[str, Fields]
    functions: Mapping[str, Fields]
    policy: Policy = allow_all
    wait_s: float = 30.0
    journal: str | Path | None = None
    pins: Path
    instructions: str | None = None
    references: References = field(repr=False)

    @property
    def keys(self) -> Keys | None:
        """Who may call; None for whoever reaches it."""
        known = [(each.key_digest, each.principal) for each in self.callers.values() if each.key_digest is not None]
        return Keys(known) if known else None


def read_config(file: Path, *, environment: Mapping[str, str]) -> GatewayConfig:
    """The gateway that a file describes.

    Args:
        file: JSON, or YAML.
        environment: Where `{"env": NAME}` is looked up.

    Raises:
        UsageError: The file cannot be read, or says something that cannot be; the text names the place.
    """
    whole = Fields(content_of(file), str(file)).only(*_ALL)
    references = References(environment=environment, folder=file.absolute().parent)
    listen = Fields(whole.get("listen", dict, {}), f"{file}, listen").only("host", "port")
    approvals = Fields(whole.get("approvals", dict, {}), f"{file}, approvals").only("wait_s")
    journal = whole.get("journal", str, "")
    pins = whole.get("pins", str, "")
    config = GatewayConfig(
        file=file,
        host=listen.get("host", str, "127.0.0.1"),
        port=listen.integer("port", DEFAULT_PORT, most=65535),
        callers=_callers(whole, references),
        servers=whole.within("mcpServers"),
        services=whole.within("services"),
        functions=whole.within("functions"),
        policy=_policy(whole),
        wait_s=approvals.number("wait_s", 30.0),
        journal=(journal if is_url(journal) else references.path(journal)) if journal else None,
        pins=references.path(pins) if pins else file.with_suffix(".pins.json"),
        instructions=whole.get("instructions", str, "") or None,
        references=references,
    )
    _check_names(config)
    return config


def _policy(whole: Fields) -> Policy:
    if "policy" not in whole.values:
        return allow_all
    written = Fields(whole.values["policy"], f"{whole.place}, policy")
    with naming(written.place):
        return Rules.from_dict(dict(written.values))


def _callers(whole: Fields, references: References) -> Mapping[str, Caller]:
    if "principals" not in whole.values:
        return {EVERYBODY: Caller(principal=Principal(name=EVERYBODY, permissions={"*"}))}
    entries = whole.within("principals")
    if not entries:
        raise UsageError(
            f"{whole.place}, `principals`: expected at least one, found none. Without `principals` everybody on this "
            "machine is served, with no key: if that is meant, leave it out."
        )
    callers: dict[str, Caller] = {}
    for name, entry in entries.items():
        entry.only("key", "tools", "permissions")
        digest = _key_digest(entry, name, references)
        callers[name] = Caller(
            principal=Principal(name=name, permissions=frozenset(entry.texts("permissions") or ())),
            tools=("*",) if (tools := entry.texts("tools")) is None else tools,
            key_digest=digest,
        )
    digests = [caller.key_digest for caller in callers.values()]
    if len(set(digests)) < len(digests):
        raise UsageError(f"{whole.place}, principals: expected a key of its own for each, found one key twice.")
    return callers


def _key_digest(entry: Fields, name: str, references: References) -> str:
    key: object = entry.values.get("key")
    if isinstance(key, Mapping) and "sha256" in key:
        digest = Fields(cast("object", key), f"{entry.place}, `key`").only("sha256").get("sha256", str, "")
        return digest_in(digest, name).hex()
    return digest_of(references.read(cast("object", key), place=f"{entry.place}, `key`"), name)


def _check_names(config: GatewayConfig) -> None:
    """Sources of one name would have tools of one name: the second could pass for the first."""
    groups = (config.servers, config.services, config.functions)
    names = [name for group in groups for name in group]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"{config.file}: expected sources with different names, found {', '.join(map(repr, twice))}.")
    if not names:
        raise UsageError(f"{config.file}: expected `mcpServers`, `services` or `functions`, found none of them.")
