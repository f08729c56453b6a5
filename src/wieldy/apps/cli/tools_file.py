"""Tools from a Python file.

The rule: of the file's public names (`__all__` if it has one, else those without a leading underscore) every `Tool` and
`Toolset` is taken, each object once. Where there is neither, the plain functions *defined in the file* are taken: what
it imports is not meant as a tool. Deliberately not here: running the file (`tools.source_files`).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TypeAlias, cast

from wieldy.core.errors import UsageError
from wieldy.tools import Tool, Toolset
from wieldy.tools.source_files import run_file

Item: TypeAlias = "Tool | Toolset | FunctionType"


def load_tools(paths: Sequence[Path]) -> Toolset:
    """All tools of the files as one set.

    Raises:
        UsageError: A file cannot be run or holds no tool, a function cannot become a tool, or two tools have one name.
    """
    found = [(path, item) for path in paths for item in _tools_of(path)]
    _refuse_shared_names(found)
    return Toolset([item for _, item in found])


def _refuse_shared_names(found: Iterable[tuple[Path, Tool | Toolset]]) -> None:
    """Nothing, if all names differ; a set would refuse as well, but does not know the files."""
    places: dict[str, list[Path]] = {}
    for path, item in found:
        for tool in item.tools if isinstance(item, Toolset) else (item,):
            places.setdefault(tool.name, []).append(path)
    shared = [f"{name!r} in {' and in '.join(map(str, paths))}" for name, paths in places.items() if len(paths) > 1]
    if shared:
        raise UsageError(
            f"Expected tools with different names, found {', '.join(shared)}. Rename one of each, or leave one out; "
            "Toolset.prefixed renames all of a set."
        )


def _tools_of(path: Path) -> tuple[Tool | Toolset, ...]:
    module = run_file(path, holding="tools")
    items = tuple(_without_repeats(_items(module)))
    if not items:
        raise UsageError(
            f"{path}: expected at least one tool, found none. Define a public function with type hints and a "
            "docstring, or decorate one with @wieldy.tool."
        )
    return tuple(_as_tools(path, item) for item in items)


def _items(module: ModuleType) -> list[Item]:
    public = list(_public(module))
    made: list[Item] = [value for value in public if isinstance(value, Tool | Toolset)]
    if made:
        return made
    return [value for value in public if inspect.isfunction(value) and value.__module__ == module.__name__]


def _public(module: ModuleType) -> Iterator[object]:
    values = vars(module)
    listed: object = values.get("__all__")
    if isinstance(listed, list | tuple):
        names = [name for name in cast("Sequence[object]", listed) if isinstance(name, str)]
    else:
        names = [name for name in values if not name.startswith("_")]
    return (values[name] for name in names if name in values)


def _without_repeats(items: Iterable[Item]) -> Iterator[Item]:
    items = list(items)
    inside = {id(tool) for item in items if isinstance(item, Toolset) for tool in item.tools}
    for item in items:
        if id(item) not in inside:
            inside.add(id(item))
            yield item


def _as_tools(path: Path, item: Item) -> Tool | Toolset:
    if not isinstance(item, FunctionType):
        return item
    try:
        return Toolset([item])
    except UsageError as error:
        raise UsageError(f"{path}:{item.__code__.co_firstlineno}: {error}") from error
