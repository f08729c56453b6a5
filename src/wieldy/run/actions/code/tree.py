"""Tools as a tree that code can look around in: `servers/<server>/<tool>`, one line each, and typed stubs on demand.

For sets of tools whose stubs would fill a prompt. A tool named `github__create_issue` is `servers/github/create_issue`,
and code calls it `github.create_issue(...)`; tools whose names have no server are in `servers/own`. Nothing is written
before it is asked for. Pure. Deliberately not here: how code asks (`looking`), and what becomes of its calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from wieldy.core.errors import UsageError
from wieldy.run.actions.code.names import identifiers
from wieldy.run.actions.code.stubs import BRIEF, stub_of
from wieldy.run.actions.code.types import TypeWriter
from wieldy.schema import nearest_names
from wieldy.tools.catalogue import first_line
from wieldy.tools.cost import BYTES_PER_TOKEN, token_cost

if TYPE_CHECKING:
    from wieldy.core.calls import ToolDefinition

ROOT: Final = "servers"
OWN: Final = "own"
"""The server of tools whose names have none."""
SEPARATOR: Final = "__"
MOST_LINES: Final = 200
"""Of one listing."""
_LONGEST_LINE: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A tool in the tree.

    Attributes:
        server: As a Python identifier.
        function: The same of the tool.
        definition: The tool.
    """

    server: str
    function: str
    definition: ToolDefinition

    @property
    def path(self) -> str:
        """In the tree."""
        return f"{ROOT}/{self.server}/{self.function}"

    @property
    def name(self) -> str:
        """As code calls it."""
        return f"{self.server}.{self.function}"

    @property
    def line(self) -> str:
        """In a listing."""
        said = first_line(self.definition)
        text = f"{self.function}: {said}" if said else self.function
        return text if len(text) <= _LONGEST_LINE else f"{text[: _LONGEST_LINE - 3]}..."


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenReport:
    """What a model would read of the same tools in several forms, in tokens by estimate.

    Attributes:
        tools: How many there are.
        definitions: All of them as definitions, as in a request of calls.
        stubs: All of them as typed stubs.
        names: The listings of all servers.
        servers: The listing that a model begins with.
    """

    tools: int
    definitions: int
    stubs: int
    names: int
    servers: int


class Tree:
    """Tools by server.

    Args:
        definitions: The tools.

    Raises:
        UsageError: Two servers, or two tools of one server, would have one name in Python.
    """

    def __init__(self, definitions: Iterable[ToolDefinition]) -> None:
        by_server: dict[str, dict[str, ToolDefinition]] = {}
        for definition in definitions:
            server, tool = _parts(definition.name)
            by_server.setdefault(server, {})[tool] = definition
        names = {name: f"{ROOT}_" if each == ROOT else each for name, each in identifiers(by_server).items()}
        self.servers: Mapping[str, Mapping[str, Leaf]] = {
            names[server]: {
                function: Leaf(server=names[server], function=function, definition=tools[tool])
                for tool, function in identifiers(tools).items()
            }
            for server, tools in by_server.items()
        }
        self._by_tool = {leaf.definition.name: leaf for leaf in self.leaves()}

    def leaves(self) -> Iterator[Leaf]:
        """All tools, server by server."""
        return (leaf for functions in self.servers.values() for leaf in functions.values())

    def listing(self, path: str = "") -> str:
        """What is at a path: the servers, or the tools of one with a line each.

        Args:
            path: `""` for the servers; `github`, or `github/create_*` for those of its tools that fit the pattern.

        Raises:
            UsageError: There is no such server.
        """
        server, _, pattern = path.strip("/ ").removeprefix(ROOT).strip("/ ").partition("/")
        if not server:
            return "\n".join(f"{name}/: {_counted(len(functions))}" for name, functions in self.servers.items())
        found = [leaf.line for leaf in self._server(server).values() if fnmatchcase(leaf.function, pattern or "*")]
        if not found:
            return f"Nothing in {ROOT}/{server} fits {pattern!r}."
        left = len(found) - MOST_LINES
        more = [f"... and {left:,} more: list '{server}/begins_with*', or search."] if left > 0 else []
        return "\n".join([*found[:MOST_LINES], *more])

    def stub(self, *names: str) -> str:
        """The types and functions of these tools, as Python to read; a type that several have is written once.

        Args:
            names: `github.create_issue`, `servers/github/create_issue` or the tool's own name.

        Raises:
            UsageError: There is no such tool.
        """
        types = TypeWriter()
        leaves = {leaf.path: leaf for leaf in map(self.leaf, names)}
        return "\n\n".join(_stub(leaf, types) for leaf in leaves.values())

    def leaf(self, name: str) -> Leaf:
        """The tool of this name, in one of its spellings.

        Raises:
            UsageError: There is none.
        """
        if name in self._by_tool:
            return self._by_tool[name]
        plain = name.strip("/ ").removeprefix(f"{ROOT}/").removesuffix(".pyi")
        server, _, function = plain.replace("/", ".", 1).partition(".")
        functions = self.servers.get(server, {})
        if function not in functions:
            near = nearest_names(plain.replace("/", "."), [leaf.name for leaf in self.leaves()], most=3)
            hint = f"Did you mean {' or '.join(near)}?" if near else "Search for it, or list its server."
            raise UsageError(f"Expected the name of a tool, such as github.create_issue, found {name!r}. {hint}")
        return functions[function]

    def report(self) -> TokenReport:
        """What a model would read of the tools in each form; it writes every stub once."""
        listings = [self.listing(server) for server in self.servers]
        return TokenReport(
            tools=len(self._by_tool),
            definitions=sum(token_cost(leaf.definition) for leaf in self.leaves()),
            stubs=sum(_tokens(_stub(leaf, TypeWriter())) for leaf in self.leaves()),
            names=sum(map(_tokens, listings)),
            servers=_tokens(self.listing()),
        )

    def _server(self, name: str) -> Mapping[str, Leaf]:
        functions = self.servers.get(name)
        if functions is None:
            raise UsageError(f"Expected a server of {', '.join(self.servers)}; found {name!r}.")
        return functions


def _parts(name: str) -> tuple[str, str]:
    """The server and the tool of a name."""
    server, separator, tool = name.partition(SEPARATOR)
    return (server, tool) if separator and server and tool else (OWN, name)


def _stub(leaf: Leaf, types: TypeWriter) -> str:
    before = set(types.classes)
    stub = stub_of(leaf.definition, leaf.function, types, BRIEF)
    classes = [text for name, text in types.classes.items() if name not in before]
    return f"# {leaf.name}\n" + "\n\n".join([*classes, stub.text])


def _counted(tools: int) -> str:
    return "1 tool" if tools == 1 else f"{tools:,} tools"


def _tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)
