"""How code looks around in a tree of tools, and calls what it finds: `servers.list`, `servers.search`, `servers.show`.

The three are tools themselves, so what code looks at is recorded as everything that it asks for. A tool is called by
its server, `await github.create_issue(title="...")`, with named arguments: the guest has a table of names and no
functions, which would be written for thousands of tools of which a few are used.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from wieldy.core.errors import ToolError, UsageError
from wieldy.core.json import JsonObject
from wieldy.run.actions.code.names import INTERNAL, parameter_identifiers
from wieldy.run.actions.code.stubs import Stubs, stubs_of
from wieldy.run.actions.code.tree import ROOT
from wieldy.schema.resolve import accepted_types, merged
from wieldy.tools import Tool, tool
from wieldy.tools.catalogue import Catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from wieldy.core.calls import ToolDefinition
    from wieldy.run.actions.code.tree import Leaf, Tree

LIST, SHOW, SEARCH = f"{ROOT}_list", f"{ROOT}_show", f"{ROOT}_search"
MOST_FOUND: Final = 8

_ABOUT: Final = (
    f'Tools are on servers. `await {ROOT}.list()` names the servers, `await {ROOT}.list("NAME")` the tools of one, '
    f'`await {ROOT}.search("what you want to do")` those that fit, and `await {ROOT}.show("SERVER.TOOL")` the types of '
    "one or several; print what they return. Then call `await SERVER.TOOL(argument=...)`, or `SERVER.TOOL.sync(...)`, "
    "with named arguments. Look before you call: do not guess names. The servers:"
)

_CLASSES: Final = """
class _wieldy_Function:
    def __init__(self, name, tool, renamed, no_null):
        self.__name__ = self.__qualname__ = name
        self._tool, self._renamed, self._no_null = tool, renamed, no_null
    def _given(self, positional, named):
        if positional:
            raise TypeError(f"{self.__name__}() takes named arguments only: await servers.show({self.__name__!r})")
        return {self._renamed.get(n, n): v for n, v in named.items() if v is not None or n not in self._no_null}
    async def __call__(self, *positional, **named):
        return _wieldy_result(await _wieldy_call(self._tool, self._given(positional, named)))
    def sync(self, *positional, **named):
        return _wieldy_result(_wieldy_call_sync(self._tool, self._given(positional, named)))
class _wieldy_Server:
    def __init__(self, name, tools):
        self.__dict__.update(_name=name, _tools=tools)
    def __getattr__(self, name):
        if name not in self._tools:
            raise AttributeError(f"there is no {self._name}.{name}: await servers.list({self._name!r})")
        return _wieldy_Function(f"{self._name}.{name}", *self._tools[name])
    def __dir__(self):
        return sorted(self._tools)
class _wieldy_Servers(_wieldy_Server):
    def __init__(self):
        super().__init__("servers", {})
    def _asking(tool, argument):
        async def ask(self, *given):
            return _wieldy_result(await _wieldy_call(tool, argument(given)))
        return ask
    list = _asking("servers_list", lambda given: {"path": given[0]} if given else {})
    show = _asking("servers_show", lambda given: {"names": [*given]})
    search = _asking("servers_search", lambda given: {"queries": [*given]})
    del _asking
"""


def looking_tools(tree: Tree, *, allowed: Callable[[Tool], bool], tools: Mapping[str, Tool]) -> tuple[Tool, ...]:
    """The tools by which code looks around.

    Args:
        tree: What there is.
        allowed: Whether a search may find a tool.
        tools: By name.
    """
    catalogue: list[Catalogue] = []

    def servers_list(path: str = "") -> str:
        """What is at a path of the tree of tools."""
        return _or_told(lambda: tree.listing(path))

    def servers_show(names: Annotated[list[str], Field(min_length=1, max_length=20)]) -> str:
        """The types of tools."""
        return _or_told(lambda: tree.stub(*names))

    def servers_search(queries: Annotated[list[str], Field(min_length=1, max_length=8)]) -> str:
        """The tools that fit best."""

        def found() -> str:
            if not catalogue:
                catalogue.append(Catalogue(leaf.definition for leaf in tree.leaves()))
            hits = catalogue[0].search(*queries, limit=MOST_FOUND, allowed=lambda name: allowed(tools[name]))
            leaves: list[Leaf] = [tree.leaf(hit.name) for hit in hits]
            return "\n".join(f"{leaf.server}.{leaf.line}" for leaf in leaves) or "No tool fits."

        return _or_told(found)

    return tuple(tool(effect="read")(function) for function in (servers_list, servers_show, servers_search))


def stubs_of_tree(tree: Tree, *, control: Iterable[ToolDefinition] = ()) -> Stubs:
    """The tree in place of a function for each tool; those for control are functions."""
    about = f"{_ABOUT}\n{tree.listing()}"
    return replace(stubs_of(control), others=(ROOT, *tree.servers), guest=_guest(tree), about=about)


def _guest(tree: Tree) -> str:
    """The names by which code reaches the tree; runs after what defines the results of calls."""
    table = {
        server: {function: _entry(leaf) for function, leaf in functions.items()}
        for server, functions in tree.servers.items()
    }
    text = json.dumps(table, ensure_ascii=True)
    return f"{_CLASSES}{ROOT} = _wieldy_Servers()\n{INTERNAL}_tree = json.loads({text!r})\n" + "".join(
        f"{server} = _wieldy_Server({server!r}, {INTERNAL}_tree[{server!r}])\n" for server in tree.servers
    )


def _entry(leaf: Leaf) -> list[object]:
    """The tool's name, its parameters that have other names in Python, and those for which None means left out."""
    schema: JsonObject = leaf.definition.input_schema
    resolved = merged(schema, ())
    properties, required = resolved.get("properties"), resolved.get("required")
    names = parameter_identifiers(properties) if isinstance(properties, dict) else {}
    needed = set(map(str, required)) if isinstance(required, list) else set[str]()
    no_null = [
        identifier
        for name, identifier in names.items()
        if name not in needed and "null" not in accepted_types(schema, ("properties", name))
    ]
    renamed = {identifier: name for name, identifier in names.items() if name != identifier}
    return [leaf.definition.name, renamed, no_null]


def _or_told(asked: Callable[[], str]) -> str:
    try:
        return asked()
    except UsageError as error:
        raise ToolError(str(error)) from None
