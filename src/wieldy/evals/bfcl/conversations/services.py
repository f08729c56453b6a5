"""The benchmark's own simulators, loaded from the user's copy of it: by checksum, and anew for every conversation.

They are data of the benchmark as much as its answers are: what a call returns decides what is right. Every file is
compared with a pinned checksum before any of it runs, so what runs is what was read: pure Python that keeps a state in
memory. Each load makes fresh modules, because the originals keep state in them (a list that is a parameter's default,
records that all instances share). They get only the names and modules that they need, none of which opens a file or a
connection: a second fence, not the first.
Deliberately not here: what a call may be (`worlds`).
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources.abc import Traversable
from types import CodeType, ModuleType
from typing import Any, Final, TypeAlias

from wieldy.core.errors import UsageError
from wieldy.evals.bfcl.conversations.ranking import BM25Plus

SERVICES: Final = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "TwitterAPI": "posting_api",
    "VehicleControlAPI": "vehicle_control",
}
"""The name of each service, and of the module that has it."""

MEMORIES: Final = {"MemoryAPI_kv": "memory_kv", "MemoryAPI_rec_sum": "memory_rec_sum"}
"""The same of memories, whose base class and search are stood in for: no file is written or read."""

PINNED: Final = {
    "gorilla_file_system": "84173750930b09aaa31b90547c9bd79ce75714682608b35e78a9c1ea259faf2b",
    "long_context": "5c9a5710115609c779e5b2ccb43f6ad58271ed96f2ea7a797edb0d65c385aa38",
    "math_api": "abde32cc25e71b2ff3acf4d028a3c005b98409c174aba4abddbfe1c018afb9a8",
    "memory_kv": "7be11ccae7741e07fcd7a2fc6664cad556357a047453db68db9e11bfec6c0ca7",
    "memory_rec_sum": "e5a08f4183ab2c14a330eb3db1aca5e13533e0ffe70ce1c424851944295b898c",
    "message_api": "cf72af1635654147af17df1891a7fb354549e78a61930139f741a31f4be21121",
    "posting_api": "32b887aaa37c7167ad9c84ddfa7bbb855c75d3c1edab19ba868aba29acc4cfa1",
    "ticket_api": "6a9375aa6425410c07a151aef27f3e44e9ed1023bb5cc5c25f14f4a9b3c99116",
    "trading_bot": "cc2e3949035b561e9d07418b081561aa07b211672200e2e511aec074bf79fcb2",
    "travel_booking": "e698e22adccf0d6d41b297f2d5e44faebd828cef4752df6a4ffb1570c0c35296",
    "vehicle_control": "f5f7a2f28968728927a98ae12ec68a32d70781cfb74c2d7b14801772362b12d1",
}
"""The SHA-256 of each source file, as `bfcl_eval` 2026.3.23 has them."""

_FOLDER: Final = "eval_checker/multi_turn_eval/func_source_code"
_LONG_CONTEXT: Final = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code.long_context"
_MEMORY_BASE: Final = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code.memory_api_metaclass"
MODULES: Final = frozenset(
    {"copy", "datetime", "decimal", "json", "math", "random", "re", "typing", "_strptime", "time"}
)
"""The last two are asked for by methods of `datetime`."""
_UNUSED: Final = frozenset({"subprocess"})
"""Imported there, and never used."""
_NAMES: Final = (
    *("Exception", "KeyError", "OverflowError", "TypeError", "ValueError", "abs", "any", "bool", "dict"),
    *("dir", "float", "getattr", "id", "int", "isinstance", "len", "list", "max", "min", "object", "range"),
    *("reversed", "round", "set", "sorted", "staticmethod", "str", "sum", "super", "vars", "zip", "__build_class__"),
)

_WITHOUT: Final = "Or leave conversations out: --categories single_turn."

SNAPSHOT: Final = "snapshot"
"""Under which a memory's scenario has what the memory begins with."""

Classes: TypeAlias = "Mapping[str, type[Any]]"
"""The class of each service."""


class ServiceCode:
    """The code of the simulators in a copy of the package.

    Args:
        package: The folder `bfcl_eval`, in a wheel or unpacked.
        pinned: The checksum of each source file.
    """

    def __init__(self, package: Traversable, *, pinned: Mapping[str, str] = PINNED) -> None:
        self._folder = package.joinpath(_FOLDER)
        self._pinned = pinned
        self._code = dict[str, CodeType]()

    def load(self, services: tuple[str, ...]) -> Classes:
        """The classes of these services, in modules that nothing else shares.

        Raises:
            UsageError: A source file is missing or is not the pinned one, there is no such service, or no `mpmath`.
        """
        loaded = dict[str, ModuleType]()
        return {name: getattr(self._module(_module_of(name), loaded), name) for name in services}

    def _module(self, name: str, loaded: dict[str, ModuleType]) -> ModuleType:
        if name not in loaded:
            module = ModuleType(f"bfcl_{name}")
            module.__dict__["__builtins__"] = _names(lambda: self._module("long_context", loaded))
            exec(self._compiled(name), module.__dict__)  # of a pinned checksum
            loaded[name] = module
        return loaded[name]

    def _compiled(self, name: str) -> CodeType:
        if name not in self._code:
            file = self._folder.joinpath(f"{name}.py")
            if not file.is_file():
                raise UsageError(
                    f"Expected the simulator {name}.py of BFCL's package in {self._folder}, found none. Conversations "
                    f"need the whole package or its wheel, not only its folder of data. {_WITHOUT}"
                )
            source = file.read_bytes()
            found = hashlib.sha256(source).hexdigest()
            if found != self._pinned[name]:
                raise UsageError(
                    f"{file}: expected the simulator of the pinned version (sha256 {self._pinned[name]}), found "
                    f"another (sha256 {found}). It is not run. Name the pinned wheel: --data WHEEL."
                )
            self._code[name] = _compiled(source, name)
        return self._code[name]


@lru_cache(maxsize=64)
def _compiled(source: bytes, name: str) -> CodeType:
    return compile(source, f"<bfcl {name}>", "exec", dont_inherit=True)


def _module_of(service: str) -> str:
    known = {**SERVICES, **MEMORIES}
    if service not in known:
        raise UsageError(f"Expected a service of {', '.join(known)}, found {service!r}.")
    return known[service]


def _names(long_context: Any) -> dict[str, Any]:
    def imported(name: str, _globals: object = None, _locals: object = None, *_: object) -> ModuleType:
        if name in MODULES:
            return importlib.import_module(name)
        if name == _LONG_CONTEXT:
            return long_context()
        if name == "mpmath":
            return _arithmetic()
        if name in _STAND_INS:
            module = ModuleType(name)
            module.__dict__.update(_STAND_INS[name])
            return module
        if name in _UNUSED:
            return ModuleType(name)
        raise ImportError(f"The simulators are given no module {name!r}.")

    return {**{name: getattr(builtins, name) for name in _NAMES}, "__import__": imported}


class MemoryAPI:
    """Stands in for the base class of memories, which would keep them in files: what they begin with is handed over."""

    def _prepare_snapshot(self, initial_config: Mapping[str, Any]) -> Any:
        return initial_config.get(SNAPSHOT)


_STAND_INS: Final[Mapping[str, Mapping[str, Any]]] = {
    _MEMORY_BASE: {"MemoryAPI": MemoryAPI},
    "rank_bm25": {"BM25Plus": BM25Plus},
}


def _arithmetic() -> ModuleType:
    """What is used of `mpmath`, with a precision of its own instead of that of the whole process."""
    try:
        mpmath: Any = importlib.import_module("mpmath")  # an extra, for one function of one service
    except ImportError as error:
        raise UsageError(f"BFCL's MathAPI needs mpmath: pip install 'wieldy[bfcl]'. {_WITHOUT}") from error
    context = mpmath.MPContext()
    module = ModuleType("mpmath")
    module.__dict__.update(mp=context, log=context.log)
    return module
