"""Labelling what a part of the code could change, without running it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from wieldy.sandbox.tracked.analysis import MUTATING, Effects
from wieldy.sandbox.tracked.limits import Meter, TrackedLimits
from wieldy.sandbox.tracked.objects import (
    PLAIN,
    Builtin,
    CoroutineObject,
    DictObject,
    ExceptionObject,
    FunctionObject,
    IteratorObject,
    Label,
    LazyObject,
    ListObject,
    Method,
    SetObject,
    Tool,
    TupleObject,
    Value,
)
from wieldy.sandbox.tracked.scopes import Env

CONTAINERS = (ListObject, DictObject, SetObject)


def taint(data: object, label: Label) -> None:
    """Says of a container, iterator or coroutine that the label had a part in all that is in it."""
    if isinstance(data, ListObject):
        data.extent |= label
        data.items[:] = [Value(item.data, item.label | label) for item in data.items]
    elif isinstance(data, DictObject):
        data.extent |= label
        for key, (name, value) in data.entries.items():
            data.entries[key] = (name, Value(value.data, value.label | label))
    elif isinstance(data, SetObject | IteratorObject | CoroutineObject):
        data.extent |= label


@dataclass(frozen=True, slots=True)
class Reached:
    """What parts of the code could do beside changing names and containers.

    Attributes:
        prints: They could print.
        waits: They could wait for a call.
    """

    prints: bool
    waits: bool


def mark_effects(
    parts: Iterable[tuple[Effects, Env]], label: Label, meter: Meter, *, roots: Iterable[Value] = ()
) -> Reached:
    """Labels all that the parts could change, each in its scope.

    Args:
        parts: Parts of the code, each with the scope it is in.
        label: Who had a part in whether they run.
        meter: Counts what is gone through.
        roots: Values whose code, if they have any, could run, and which could be gone through.
    """
    reach = _Reach(meter)
    reach.add_values(roots)
    for effects, env in parts:
        for name in effects.assigned:
            owner = env.owner(name) or env.module
            owner.taint(name, label, is_deleted=name in effects.deleted)
        reach.add(effects, env)
    reach.walk()
    reach.mark(label)
    return Reached(reach.prints, reach.waits)


def mark_all(
    envs: Iterable[Env], label: Label, meter: Meter, *, names: bool = False, roots: Iterable[Value] = ()
) -> None:
    """Labels everything that can be reached from the scopes; the names too, if they could be bound anew."""
    reach = _Reach(meter)
    reach.add_values(roots)
    reach.is_entangled = True
    for env in envs:
        reach.add_scope(env)
    reach.walk()
    reach.mark(label)
    if names:
        for env in reach.scopes.values():
            for name in list(env.values):
                env.taint(name, label, is_deleted=False)


def size_within(env: Env) -> int:
    """Characters and elements of all that can be reached from the scope, each object once."""
    reach = _Reach(Meter(TrackedLimits(steps=sys.maxsize)))
    reach.is_counting = True
    reach.add_scope(env)
    reach.walk()
    return reach.size


class _Reach:
    """What can be reached from parts of the code, and what of it they change."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.is_entangled = False
        self.is_counting = False
        self.size = 0
        self.prints = False
        self.waits = False
        self.seen: dict[int, object] = {}
        self.changed: list[object] = []
        self.declared: list[tuple[str, Env, bool]] = []
        self.scopes: dict[int, Env] = {}
        self._parts: set[tuple[int, int]] = set()
        self._mutated: set[str] = set()
        self._rebound: set[str] = set()
        self._waiting: list[object] = []

    def add(self, effects: Effects, env: Env) -> None:
        if (id(effects), id(env)) in self._parts:
            return
        self._parts.add((id(effects), id(env)))
        # What one function binds anew, another one may change.
        self._mutated |= effects.mutated
        self._rebound |= effects.rebound
        self._rebound |= {name for name, maker in effects.made_by if env.owner(maker) is not None}
        self.is_entangled = self.is_entangled or effects.is_entangled
        self.waits = self.waits or effects.can_wait
        self.declared += [(name, env, name in effects.deleted) for name in effects.declared]
        for name in effects.loads:
            found = env.find(name)
            if found is not None:
                self._waiting.append(found.data)
            elif name == "print":
                self.prints = True
        for name in effects.mutated:
            found = env.find(name)
            if found is not None:
                self.changed.append(found.data)

    def add_values(self, values: Iterable[Value]) -> None:
        self._waiting += [value.data for value in values]

    def add_scope(self, env: Env | None) -> None:
        while env is not None and id(env) not in self.scopes:
            self.scopes[id(env)] = env
            self._waiting += [value.data for value in env.values.values()]
            env = env.parent

    def walk(self) -> None:
        while self._waiting:
            data = self._waiting.pop()
            if self.is_counting and isinstance(data, str) and id(data) not in self.seen:
                self.seen[id(data)] = data
                self.size += len(data)
            if isinstance(data, PLAIN) or id(data) in self.seen:
                continue
            self.meter.charge(1)
            self.seen[id(data)] = data
            within = self._within(data)
            self.size += len(within)
            self._waiting += within
        self.is_entangled = self.is_entangled or not self._mutated.isdisjoint(self._rebound)

    def _within(self, data: Any) -> list[object]:
        if isinstance(data, ListObject | TupleObject):
            return [item.data for item in data.items]
        if isinstance(data, DictObject):
            return [value.data for _, value in data.entries.values()]
        if isinstance(data, IteratorObject):
            return [data.source.data]
        if isinstance(data, Builtin):
            self.prints = self.prints or data.name == "print"
            self.waits = self.waits or data.name == "asyncio.run"
            return []
        if isinstance(data, ExceptionObject):
            return [item.data for item in (*data.arguments, *((data.failure,) if data.failure else ()))]
        return self._within_code(data)

    def _within_code(self, data: Any) -> list[object]:
        if isinstance(data, FunctionObject):
            self.add(data.code.effects, data.env)
            self.add_scope_if_all(data.env)
            return [value.data for value in data.defaults.values()]
        if isinstance(data, LazyObject):
            self.add(data.effects, data.frame.env)
            self.add_scope_if_all(data.frame.env)
            return [iterator.data for _, iterator in data.frame.through]
        if isinstance(data, CoroutineObject):
            return [data.callee, *(value.data for value in (*data.arguments, *data.keywords.values()))]
        if isinstance(data, Method):
            self.is_entangled = self.is_entangled or data.name in MUTATING
            return [data.receiver.data]
        self.waits = self.waits or (isinstance(data, Tool) and data.is_sync)
        return []

    def add_scope_if_all(self, env: Env) -> None:
        if self.scopes:
            self.add_scope(env)

    def mark(self, label: Label) -> None:
        for name, env, is_deleted in self.declared:
            for owner in {id(owner): owner for owner in (env.owner(name), env.module) if owner}.values():
                if name in owner.names:
                    owner.taint(name, label, is_deleted=is_deleted)
        for data in self.seen.values():
            if isinstance(data, IteratorObject | CoroutineObject) or (
                self.is_entangled and isinstance(data, CONTAINERS)
            ):
                taint(data, label)
        for data in self.changed:
            taint(data, label)
