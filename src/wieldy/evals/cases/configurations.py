"""What is compared: a model and how it is led, held, equipped and limited; grids of such settings, and ablations.

Law: two configurations have the same name if and only if they are the same. Deliberately not here: running
(`running`), and what answers behind a model's name (`deployments`).
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from msgspec import structs

from wieldy.agent.parts import Actions, Strategy
from wieldy.core.errors import UsageError
from wieldy.core.limits import Limits
from wieldy.run.guided import GuidedModel
from wieldy.run.searching import ToolSearch

if TYPE_CHECKING:
    from wieldy.core.ports import Model, ModelEvent, ModelRequest

SCRIPT: Final = "script:"
ORACLE: Final = "script:oracle"
LIMITS: Final = tuple(each.name for each in fields(Limits))
_DEFAULTS: Final = Limits()
_SWITCHES: Final = {"on": True, "off": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """A model and its settings.

    Attributes:
        model: As `Agent(model=...)` takes it, or `script:NAME` for a script of the tasks.
        strategy: How a local model is led; None for what an `Agent` would do.
        actions: How it acts.
        format: The chat format in which it writes calls; None to find that out.
        constraint: Whether its replies are held to tools and outputs; off, it writes freely.
        parallel: Whether a reply may make several calls.
        tools: Whether there are tools at all.
        without: Names of tools that are left out.
        search: Whether tools have to be searched for.
        policy: The name of one of the study's policies; None for the study's own.
        limits: By the names of `Limits`; where a case has a limit of its own, the smaller of both holds.
    """

    model: str
    strategy: Strategy | None = None
    actions: Actions = "calls"
    format: str | None = None
    constraint: bool = True
    parallel: bool = True
    tools: bool = True
    without: tuple[str, ...] = ()
    search: bool = False
    policy: str | None = None
    limits: Mapping[str, float] = field(default_factory=dict[str, float])

    def __post_init__(self) -> None:
        object.__setattr__(self, "without", tuple(sorted(set(self.without))))
        object.__setattr__(self, "limits", dict(sorted(self.limits.items())))

    @property
    def name(self) -> str:
        """The model, and behind it whatever is not as it would be if nothing had been said."""
        told = ", ".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.model} ({told})" if told else self.model

    @property
    def settings(self) -> dict[str, str]:
        """What is not as it would be if nothing had been said, as `with_setting` takes it."""
        found = dict[str, str]()
        for each in fields(self):
            value: Any = getattr(self, each.name)
            if each.name in ("model", "limits") or value == each.default:
                continue
            if isinstance(value, bool):
                found[each.name] = "on" if value else "off"
            else:
                found[each.name] = "+".join(cast("tuple[str, ...]", value)) if each.name == "without" else str(value)
        return found | {name: _written(value) for name, value in self.limits.items()}

    @property
    def is_script(self) -> bool:
        """Whether it is a script of the tasks and no model."""
        return self.model.startswith(SCRIPT)

    def limited(self, limits: Limits) -> Limits:
        """The limits of a case, with those of the configuration."""
        changed = dict[str, Any]()
        for name, value in self.limits.items():
            own: Any = getattr(limits, name)
            is_of_case = own is not None and own != getattr(_DEFAULTS, name)
            wanted = value if name in ("cost_usd", "wall_time_s") else int(value)
            changed[name] = min(cast("float", own), wanted) if is_of_case else wanted
        return replace(limits, **changed)

    def searching(self) -> ToolSearch | None:
        """When tools have to be searched for: always, or never."""
        return ToolSearch(above_tokens=0) if self.search else None

    def held(self, model: Model) -> Model:
        """The model, asked for one call at a time if it is to be.

        Raises:
            UsageError: It is guided, and a setting would change nothing.
        """
        if self.strategy != "native" and self.actions == "calls" and isinstance(model, GuidedModel):
            idle = [name for name in ("format", "constraint", "parallel") if name in self.settings]
            if idle:
                raise UsageError(
                    f"{self.model!r} is guided: held at every step, one call a reply, in no chat format's calls. "
                    f"{idle[0]}={self.settings[idle[0]]} needs strategy=native."
                )
        return model if self.parallel else _OneCall(model)


class _OneCall:
    """A model that is asked for at most one call a reply."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """As the model is called."""
        return self._model.name

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """As the model answers."""
        return self._model.stream(structs.replace(request, parallel_calls=False))


def _written(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


# Settings by name


def with_setting(configuration: Configuration, name: str, value: str) -> Configuration:
    """The configuration with one thing changed, as a person writes it: `strategy`, `native`.

    Raises:
        UsageError: There is no such setting, or no such value.
    """
    if name in LIMITS:
        return replace(configuration, limits={**configuration.limits, name: _number(name, value)})
    reads = _READERS.get(name)
    if reads is None:
        raise UsageError(f"Expected a setting ({', '.join((*_READERS, *LIMITS))}), found {name!r}.")
    return replace(configuration, **{name: reads(name, value)})


def grid(configurations: Iterable[Configuration], axes: Mapping[str, Sequence[str]]) -> list[Configuration]:
    """Every configuration with every combination of the values.

    Raises:
        UsageError: As `with_setting`.
    """
    found = list[Configuration]()
    for configuration in configurations:
        for values in product(*axes.values()):
            changed = configuration
            for name, value in zip(axes, values, strict=True):
                changed = with_setting(changed, name, value)
            found.append(changed)
    return list(_different(found))


def ablations(configurations: Iterable[Configuration], names: Sequence[str]) -> list[Configuration]:
    """Every configuration as it is, and once without each of these: `tools`, `constraint`, `parallel`, or a tool."""
    found = list[Configuration]()
    for configuration in configurations:
        found.append(configuration)
        for name in names:
            if name in ("tools", "constraint", "parallel"):
                found.append(with_setting(configuration, name, "off"))
            else:
                found.append(replace(configuration, without=(*configuration.without, name)))
    return list(_different(found))


def _different(configurations: Iterable[Configuration]) -> Iterable[Configuration]:
    return {configuration.name: configuration for configuration in configurations}.values()


def _number(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number < math.inf or (name not in ("cost_usd", "wall_time_s") and number != int(number)):
        raise UsageError(f"Expected a number for {name}, found {value!r}.")
    return number


def _one_of(options: Iterable[str]) -> Callable[[str, str], str]:
    known = tuple(options)

    def read(name: str, value: str) -> str:
        if value not in known:
            raise UsageError(f"Expected {name} to be one of {', '.join(known)}, found {value!r}.")
        return value

    return read


def _switch(name: str, value: str) -> bool:
    return _SWITCHES[_one_of(_SWITCHES)(name, value)]


def _word(name: str, value: str) -> str:
    if not value:
        raise UsageError(f"Expected a name for {name}, found nothing.")
    return value


def _words(name: str, value: str) -> tuple[str, ...]:
    return tuple(_word(name, part) for part in value.split("+"))


_READERS: Final[Mapping[str, Callable[[str, str], Any]]] = {
    "strategy": _one_of(get_args(Strategy)),
    "actions": _one_of(get_args(Actions)),
    "format": _word,
    "constraint": _switch,
    "parallel": _switch,
    "tools": _switch,
    "without": _words,
    "search": _switch,
    "policy": _word,
}
