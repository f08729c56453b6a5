"""What `wieldy resume` needs to go on with a run that `wieldy run` started; it is kept in the run's metadata.

Law: `Recipe.from_metadata(recipe.to_metadata())` is an equal recipe. Paths are absolute in it, because a run may be
resumed from another folder. No secret is recorded: a model's address that holds one is left out, and must be given
again. Deliberately not here: making an agent of it (`session`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args
from urllib.parse import urlsplit

from wieldy.apps.cli.described import Described
from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject
from wieldy.core.limits import Limits

Actions: TypeAlias = Literal["calls", "react", "json", "code"]
Strategy: TypeAlias = Literal["guided", "native"]

_KEY = "command_line"
_LOCAL = "local:"
_SECRET = re.compile(r"key|token|secret|passw|auth|credential|bearer", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a run is led.

    Attributes:
        model: As `--model` was given; None if that cannot be recorded.
        tools_files: In the order in which they were given.
        mcp: Where MCP servers are: files, addresses and command lines.
        openapi: A service by its document.
        skills: The folder of the skills that are offered; None for none.
        asks: Whether a person must consent to calls that change something.
        pauses: Whether the run rests where nobody can be asked; else such a call is denied.
    """

    model: str | None
    tools_files: tuple[Path, ...] = ()
    mcp: tuple[str, ...] = ()
    openapi: Described | None = None
    actions: Actions = "calls"
    skills: Path | None = None
    strategy: Strategy | None = None
    limits: Limits = field(default_factory=Limits)
    asks: bool = True
    pauses: bool = False

    def to_metadata(self) -> JsonObject:
        """The recipe as a run's metadata."""
        limits = self.limits
        return {
            _KEY: {
                "model": None if self.model is None else _recordable(self.model),
                "tools_files": [str(path.absolute()) for path in self.tools_files],
                "mcp": [recordable_service(service) for service in self.mcp],
                "openapi": None if self.openapi is None else self.openapi.to_json(),
                "actions": self.actions,
                "skills": None if self.skills is None else str(self.skills.expanduser().absolute()),
                "strategy": self.strategy,
                "limits": {"turns": limits.turns, "cost_usd": limits.cost_usd, "wall_time_s": limits.wall_time_s},
                "asks": self.asks,
                "pauses": self.pauses,
            }
        }

    @classmethod
    def from_metadata(
        cls, metadata: JsonObject, *, mcp: tuple[str, ...] = (), openapi: Described | None = None
    ) -> Recipe | None:
        """The recipe that a run was started with; None if it was not started from the command line.

        Args:
            metadata: Of the run.
            mcp: Named in place of all recorded MCP servers.
            openapi: Named in place of the recorded service.

        Raises:
            UsageError: What is there is not a recipe of this version.
        """
        recorded = metadata.get(_KEY)
        if recorded is None:
            return None
        try:
            return _recipe(cast("dict[str, Any]", recorded), mcp, openapi)  # checked there
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UsageError(
                "What the run's record says of its model and tools cannot be read: another version of Wieldy wrote it "
                f"({error!r}). Resume the run with that version."
            ) from error


def _recipe(recorded: dict[str, Any], mcp: tuple[str, ...], openapi: Described | None) -> Recipe:
    skills = _one_of(recorded.get("skills"), str, type(None))
    services = [_one_of(service, str, type(None)) for service in recorded.get("mcp", [])]
    if None in services and not mcp:
        raise UsageError(
            "The run was started with MCP servers whose address or command may hold a secret, so it was not recorded. "
            "Name all of them again with --mcp."
        )
    return Recipe(
        model=_one_of(recorded["model"], str, type(None)),
        tools_files=tuple(Path(path) for path in recorded["tools_files"]),
        mcp=mcp or tuple(services),
        openapi=openapi or Described.from_json(recorded.get("openapi")),
        actions=_named(recorded["actions"], get_args(Actions)),
        skills=None if skills is None else Path(skills),
        strategy=_named(recorded["strategy"], (*get_args(Strategy), None)),
        limits=Limits(**{name: _one_of(value, int, float, type(None)) for name, value in recorded["limits"].items()}),
        asks=_one_of(recorded["asks"], bool),
        pauses=_one_of(recorded["pauses"], bool),
    )


def _one_of(value: Any, *types: type) -> Any:
    if not isinstance(value, types):
        raise TypeError(value)
    return value


def _named(value: Any, known: tuple[Any, ...]) -> Any:
    if value not in known:
        raise ValueError(value)
    return value


def _recordable(model: str) -> str | None:
    model = model.strip()
    if model.lower().startswith(_LOCAL):
        return _LOCAL + str(Path(model[len(_LOCAL) :].strip()).expanduser().absolute())
    return None if _holds_password(model) else model


def _holds_password(model: str) -> bool:
    try:
        return "@" in urlsplit(model).netloc
    except ValueError:
        return True  # no address that anybody could reach


def recordable_service(service: str) -> str | None:
    """Where a service is, as it may be recorded; None where that may hold a secret."""
    service = service.strip()
    if service.lower().startswith(("http://", "https://")):
        return None if _holds_password(service) or "?" in service else service
    if service.lower().endswith(".json"):
        return str(Path(service).expanduser().absolute())
    return None if _SECRET.search(service) else service
