"""A Python file of a user's, run as it is now as a module, and what is wrong with it in words that name the line.

Its folder is on the import path, as `python FILE.py` would have it. Python keeps bytecode beside a file and takes it
for the file's as long as size and second of writing agree: a file that was changed within the second would be run as
it was. Deliberately not here: what is looked for in the module.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from wieldy.core.errors import UsageError
from wieldy.core.json import digest


class _FreshSourceLoader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def run_file(path: Path, *, holding: str) -> ModuleType:
    """The file was run as a module whose name is the same in every process.

    Args:
        path: The file.
        holding: What is looked for in it, which keeps its name apart from others: `tools`, `tasks`.

    Raises:
        UsageError: It cannot be read, or not be run to its end.
    """
    file = path.absolute()
    # What a tool did is known by where its code comes from.
    name = f"wieldy_{holding}_file_{path.stem}_{digest(str(file))[:8]}"
    loader = _FreshSourceLoader(name, str(file))
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    if path.suffix != ".py" or spec is None:
        raise UsageError(f"{path}: expected a Python file whose name ends in .py")
    module = importlib.util.module_from_spec(spec)
    # Type hints are resolved through sys.modules, and the file's own imports through its folder.
    sys.modules[name] = module
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))
    try:
        loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
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
