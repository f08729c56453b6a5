"""Sets of tools, composed by wrapping: a filtered or renamed toolset is a toolset around a toolset.

A toolset is an asynchronous context manager: entering it opens what it is made of, in order, and leaving closes it.
Several runs may use one set at once: the first that enters opens it, and the last that leaves closes it. Tools made
from functions have nothing to open. A set that learns its tools when it is opened has none before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from types import MethodType, TracebackType
from typing import Self, TypeAlias, cast

from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import ToolSignatureError, UsageError
from wieldy.schema import nearest
from wieldy.tools.callables import AnyFunction
from wieldy.tools.declare import tool
from wieldy.tools.names import MAX_NAME_LENGTH, check_prefix, shortened
from wieldy.tools.opening import SharedOpening
from wieldy.tools.tool import Tool

ToolLike: TypeAlias = "Tool | Toolset | AnyFunction"


class Toolset:
    """Tools with different names, in the order in which they were given.

    Args:
        items: Tools, functions that become tools, and toolsets.

    Raises:
        UsageError: Two tools have one name, or an item is none of these.
    """

    def __init__(self, items: Iterable[ToolLike] = ()) -> None:
        self._parts = tuple(_part(item) for item in _listed(items))
        self._opening = SharedOpening(self.hold)
        if self._parts:  # a set that makes its tools itself, when they are asked for, sees to their names
            _by_name(self.tools)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in order."""
        return tuple(tool for part in self._parts for tool in (part.tools if isinstance(part, Toolset) else (part,)))

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """What a model sees of them."""
        return tuple(tool.definition for tool in self.tools)

    def get(self, name: str) -> Tool | None:
        """The tool of that name, if there is one."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def filtered(self, predicate: Callable[[Tool], bool]) -> Toolset:
        """Those tools for which the predicate holds."""
        return _Changed(self, lambda tools: (tool for tool in tools if predicate(tool)))

    def renamed(self, names: Mapping[str, str]) -> Toolset:
        """All tools, some under new names: `{old: new}`; fallbacks are named as their tools are.

        Raises:
            UsageError: There is no such tool, or a new name is no name or already taken.
        """
        return _Changed(self, lambda tools: _renamed(tools, dict(names)))

    def prefixed(self, prefix: str) -> Toolset:
        """All tools, with this in front of their names; one that is too long with it ends in a digest instead.

        Raises:
            UsageError: The prefix is no part of a name, or too long for one.
        """
        check_prefix(prefix)

        def prefixed(name: str) -> str:
            return prefix + name if len(prefix + name) <= MAX_NAME_LENGTH else shortened(prefix, name, name)

        return _Changed(self, lambda tools: _renamed(tools, {tool.name: prefixed(tool.name) for tool in tools}))

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """What entering holds open; a set that holds something of its own overrides this.

        One task enters and leaves it, and it is never entered twice at once in one event loop.
        """
        async with AsyncExitStack() as stack:
            for part in self._parts:
                if isinstance(part, Toolset):
                    await stack.enter_async_context(part)
            # What was learnt by opening may clash with the rest.
            _by_name(self.tools)
            yield

    async def __aenter__(self) -> Self:
        await self._opening.enter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._opening.leave()


class _Changed(Toolset):
    """A toolset that shows another one's tools differently."""

    def __init__(self, inner: Toolset, change: Callable[[tuple[Tool, ...]], Iterable[Tool]]) -> None:
        self._change = change
        self._seen: tuple[Tool, ...] | None = None
        self._changed: tuple[Tool, ...] = ()
        super().__init__([inner])

    @property
    def tools(self) -> tuple[Tool, ...]:
        # Changed once, so that a tool is the same object whenever one asks.
        seen = super().tools
        if seen != self._seen:
            self._seen, self._changed = seen, tuple(self._change(seen))
        return self._changed


def tools_from(items: ToolLike | Iterable[ToolLike]) -> Toolset:
    """A toolset of what was given: a toolset itself, one tool or function, or several of them.

    Raises:
        UsageError: It is none of these, or two tools have one name.
    """
    if isinstance(items, Toolset):
        return items
    if isinstance(items, Tool) or (callable(items) and not isinstance(items, Iterable)):
        return Toolset([items])
    return Toolset(cast("Iterable[ToolLike]", items))


def _listed(items: object) -> tuple[object, ...]:
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise UsageError(f"Expected a list of tools, functions and toolsets, found {items!r}.")
    return tuple(cast("Iterable[object]", items))


def _part(item: object) -> Tool | Toolset:
    if isinstance(item, MethodType) and isinstance(item.__func__, Tool):
        # From Python 3.13 on, a class method around a tool is handed out as a method around a tool.
        item = item.__func__.__get__(item.__self__)
    if isinstance(item, Toolset):
        return item
    if not isinstance(item, Tool) and not callable(item):
        raise UsageError(f"Expected a tool, a function or a toolset, found {type(item).__name__} {item!r:.80}.")
    made = tool(item)
    if made.has_receiver:
        raise ToolSignatureError(
            f"The tool {made.name!r} is a method without its object. Give the tool of an object instead of the class's."
        )
    return made


def _by_name(tools: Iterable[Tool]) -> None:
    """Nothing, if all names differ; raises otherwise."""
    twice = [name for name, count in Counter(tool.name for tool in tools).items() if count > 1]
    if twice:
        raise UsageError(
            f"Expected tools with different names, found {', '.join(map(repr, twice))} more than once. Rename them "
            "with Toolset.renamed or Toolset.prefixed."
        )


def _renamed(tools: tuple[Tool, ...], names: dict[str, str]) -> Iterator[Tool]:
    known = [tool.name for tool in tools]
    for name in names:
        # Before it is opened, a set may not know its tools yet.
        if known and name not in known:
            hint = nearest(name, known)
            raise UsageError(
                f"Expected the name of a tool to rename, found {name!r}; "
                + (f"did you mean {hint!r}?" if hint else f"the tools are {', '.join(map(repr, known))}.")
            )
    for old in tools:
        fallback = names.get(old.fallback or "")
        if old.name in names or fallback is not None:
            yield old.renamed(names.get(old.name, old.name), fallback=fallback)
        else:
            yield old
