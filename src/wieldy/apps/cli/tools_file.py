"""Tools from a Python file, and what is wrong with the file in words that name the line.

The rule: of the file's public names (`__all__` if it has one, else those without a leading underscore) every `Tool` and
`Toolset` is taken, each object once. Where there is neither, the plain functions *defined in the file* are taken: what
it imports is not meant as a tool. The file is run as a module of its own with its folder on the import path, as
`python FILE.py` would do.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TypeAlias, cast

from wieldy.core.errors import UsageError
from wieldy.core.json import digest
from wieldy.tools import Tool, Toolset
from wieldy.tools.fresh_source import spec_of

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
    module = _run(path)
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


def _run(path: Path) -> ModuleType:
    file = path.absolute()
    # The same in every process: what a tool did is known by where its code comes from.
    name = f"wieldy_tools_file_{path.stem}_{digest(str(file))[:8]}"
    spec = spec_of(name, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: expected a Python file whose name ends in .py")
    module = importlib.util.module_from_spec(spec)
    # Type hints are resolved through sys.modules, and the file's own imports through its folder.
    sys.modules[name] = module
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UsageError(_what_went_wrong(path, error)) from error
    return module


def _what_went_wrong(path: Path, error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename == str(path.absolute()):
        return f"{path}: the file cannot be read: {error.strerror}"
    if isinstance(error, SyntaxError):
        file = path if error.filename in (None, str(path.absolute())) else error.filename
        return f"{file}:{error.lineno or 1}: {error.msg}"
    place = f"{path}:{_line_in(path.absolute(), error)}"
    if isinstance(error, UsageError):
        return f"{place}: {error}"
    if isinstance(error, SystemExit):
        return f"{place}: the file ends the program when it is imported; put that below `if __name__ == '__main__':`"
    words = "".join(traceback.format_exception_only(error)).strip()
    if isinstance(error, ModuleNotFoundError):
        words += ". Install it in the environment that runs wieldy"
    return f"{place}: running the file failed: {words}"


def _line_in(file: Path, error: BaseException) -> int:
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == str(file)]
    return lines[-1] if lines else 1
