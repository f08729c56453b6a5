"""The services of one conversation, with their state: calls by name with plain arguments, and what the state is.

A world is made from a scenario and belongs to one trial; whoever needs it as it was makes another one and replays the
calls. A call is looked up by name among the public methods, and Python itself binds its arguments; no text is
evaluated. The few calls whose result could be of any size are refused beyond a limit.
"""

from __future__ import annotations

import copy
import inspect
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import localcontext
from typing import Any, Final, NamedTuple, cast

from wieldy.evals.bfcl.conversations.services import Classes

STATELESS: Final = frozenset({"MathAPI"})
"""They take no scenario."""
MOST_BITS: Final = 65_536
"""Of a power."""
MOST_DIGITS: Final = 10_000
"""To which something may be worked out or rounded."""
MOST_CHARACTERS: Final = 1_000_000
"""Of a memory in which one text is replaced by another."""
_ERROR: Final = "Error during execution: "


class Outcome(NamedTuple):
    """What came of a call.

    Attributes:
        text: As the benchmark shows it to a model, and compares it.
        is_error: Whether the call raised an exception; what a service reports itself is a result.
    """

    text: str
    is_error: bool = False


class Hidden(NamedTuple):
    """What calls may depend on that does not count as state.

    Attributes:
        chance: Where the services' numbers drawn by chance have got to.
        others: The values of all other private attributes but for dictionaries, which are caches.
    """

    chance: tuple[object, ...]
    others: tuple[object, ...]

    def is_where(self, other: Hidden) -> bool:
        """Whether the others are the same: the folder that one is in, say, and not one that is equal to it."""
        return all(one is another for one, another in zip(self.others, other.others, strict=True))


class World:
    """Services in a state.

    Args:
        classes: Of the services.
        scenario: What each begins with, by the name of the service; not changed.
        is_long: Whether they pad what they return, as the benchmark's long conversations want it.
    """

    def __init__(self, classes: Classes, scenario: Mapping[str, Any], *, is_long: bool = False) -> None:
        self.services: dict[str, Any] = {}
        self.service_of: dict[str, str] = {}
        self._methods: dict[str, Callable[..., Any]] = {}
        for name, service in classes.items():
            instance = service()
            if name not in STATELESS:
                instance._load_scenario(copy.deepcopy(scenario.get(name, {})), long_context=is_long)
            self.services[name] = instance
            for method, function in inspect.getmembers(instance, predicate=inspect.ismethod):
                if not method.startswith("_"):
                    self._methods[method] = function
                    self.service_of[method] = name

    def call(self, name: str, positional: Sequence[Any] = (), named: Mapping[str, Any] | None = None) -> Outcome:
        """The call is carried out, and changes the state if that is what it does."""
        named = named or {}
        method = self._methods.get(name)
        if method is None:
            return Outcome(f"{_ERROR}name {name!r} is not defined", is_error=True)
        if _is_too_large(name, method, positional, named):
            return Outcome(f"{_ERROR}the result would be too large", is_error=True)
        try:
            with localcontext():  # a service sets the precision of decimal numbers, which is the whole thread's
                return Outcome(_shown(method(*copy.deepcopy(positional), **copy.deepcopy(dict(named)))))
        except Exception as error:  # of a service, which may raise anything
            return Outcome(f"{_ERROR}{error}", is_error=True)

    def arguments(self, name: str, positional: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments of a call by name.

        Raises:
            TypeError: The method takes other ones.
            KeyError: There is no such method.
        """
        return dict(inspect.signature(self._methods[name]).bind(*positional, **named).arguments)

    def attributes(self) -> Iterator[tuple[str, str, Any]]:
        """Service, name and value of everything that counts as its state: what is not private."""
        for service, instance in self.services.items():
            for name, value in attributes_of(instance):
                if not name.startswith("_"):
                    yield service, name, value

    def hidden(self) -> Hidden:
        """What is private in the services: where they are in a folder, and how far in drawing by chance."""
        values = [value for each in self.services.values() for name, value in attributes_of(each) if name[0] == "_"]
        chance = tuple(value.getstate() for value in values if isinstance(value, random.Random))
        return Hidden(chance, tuple(value for value in values if not isinstance(value, random.Random | dict)))


def attributes_of(instance: object) -> Iterable[tuple[str, Any]]:
    """The attributes of an object of a service, by name."""
    return vars(instance).items()


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if type(value) is dict:
        try:
            return json.dumps(value)
        except (TypeError, ValueError, RecursionError):
            return str(cast("Any", value))
    return str(value)


def _is_too_large(name: str, method: Callable[..., Any], positional: Sequence[Any], named: Mapping[str, Any]) -> bool:
    limits = _LIMITED.get(name)
    if limits is None:
        return False
    try:
        given = inspect.signature(method).bind(*positional, **named).arguments
    except TypeError:
        return False  # then nothing of it runs
    return limits(given, getattr(method, "__self__", None))


def _power(given: Mapping[str, Any], _: object) -> bool:
    base, exponent = given.get("base"), given.get("exponent")
    if not isinstance(base, int) or not isinstance(exponent, int):
        return False
    return base.bit_length() * exponent > MOST_BITS and abs(base) > 1


def _digits(parameter: str) -> Callable[[Mapping[str, Any], object], bool]:
    def is_beyond(given: Mapping[str, Any], _: object) -> bool:
        wanted = given.get(parameter)
        return isinstance(wanted, int | float) and not abs(wanted) <= MOST_DIGITS

    return is_beyond


def _replacing(given: Mapping[str, Any], service: Any) -> bool:
    old, new, memory = str(given.get("old_text")), str(given.get("new_text")), str(service.memory)
    return len(memory) + memory.count(old) * (len(new) - len(old)) > MOST_CHARACTERS


_LIMITED: Final[dict[str, Callable[[Mapping[str, Any], Any], bool]]] = {
    "power": _power,
    "logarithm": _digits("precision"),
    "square_root": _digits("precision"),
    "round_number": _digits("decimal_places"),
    "memory_replace": _replacing,
}
