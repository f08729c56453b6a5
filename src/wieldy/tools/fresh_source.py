"""A Python file of a user's, loaded as it is now.

Python keeps bytecode beside a file and takes it for the file's as long as size and second of writing agree: a file that
was changed within the second would be run as it was. Deliberately not here: what is looked for in the module.
"""

from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType


class _FreshSourceLoader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def spec_of(name: str, file: Path) -> ModuleSpec | None:
    """How the file is loaded as a module of that name; None if its name does not end in `.py`."""
    if file.suffix != ".py":
        return None
    return importlib.util.spec_from_file_location(name, file, loader=_FreshSourceLoader(name, str(file)))
