"""What a GGUF file says about itself: its header, read without loading the model.

Only metadata is read; tensors are left to llama.cpp.
Source: the GGUF specification, versions 2 and 3 (ggml, docs/gguf.md).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from wieldy.core.errors import ModelNotAvailableError

_STRING: Final = 8
_ARRAY: Final = 9
_NUMBERS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_LONGEST_STRING_BYTES: Final = 64 * 1024 * 1024
_MOST_ITEMS: Final = 16 * 1024 * 1024
_DEEPEST_LIST: Final = 8


def read_metadata(path: Path) -> Mapping[str, Any]:
    """The key-value pairs of the header: numbers, strings and lists of them, by name.

    Cost: linear in the header, about 0.1 s for a vocabulary of 150,000 tokens.

    Raises:
        ModelNotAvailableError: The file cannot be read, or is no GGUF file that this reader knows.
    """
    try:
        with path.open("rb") as file:
            return _Reader(file).header()
    except OSError as error:
        raise ModelNotAvailableError(f"Cannot read the model file {str(path)!r}: {error.strerror or error}.") from error
    except (ValueError, struct.error) as error:
        raise ModelNotAvailableError(
            f"Expected a GGUF model file at {str(path)!r}, found something else ({error}). "
            "Fetch it again, or give the path of a .gguf file."
        ) from error


class _Reader:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def header(self) -> dict[str, Any]:
        if self._bytes(4) != b"GGUF":
            raise ValueError("it does not begin with 'GGUF'")
        version = self._number("I")
        if version not in (2, 3):
            raise ValueError(f"version {version} where 2 or 3 was expected")
        self._number("Q")  # how many tensors
        return {self._string(): self._value(self._number("I")) for _ in range(self._count())}

    def _value(self, kind: int, depth: int = 0) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            return self._array(depth)
        if kind not in _NUMBERS:
            raise ValueError(f"a value of the unknown type {kind}")
        return self._number(_NUMBERS[kind])

    def _array(self, depth: int) -> list[Any]:
        if depth >= _DEEPEST_LIST:
            raise ValueError(f"lists within lists, more than {_DEEPEST_LIST} deep")
        kind, count = self._number("I"), self._count()
        if kind in _NUMBERS:
            layout = f"<{count}{_NUMBERS[kind]}"
            return list(struct.unpack(layout, self._bytes(struct.calcsize(layout))))
        return [self._value(kind, depth + 1) for _ in range(count)]

    def _string(self) -> str:
        length = self._number("Q")
        if length > _LONGEST_STRING_BYTES:
            raise ValueError(f"a text of {length} bytes")
        return self._bytes(length).decode("utf-8", "replace")

    def _count(self) -> int:
        count = self._number("Q")
        if count > _MOST_ITEMS:
            raise ValueError(f"a list of {count} items")
        return count

    def _number(self, code: str) -> Any:
        return struct.unpack(f"<{code}", self._bytes(struct.calcsize(f"<{code}")))[0]

    def _bytes(self, count: int) -> bytes:
        data = self._file.read(count)
        if len(data) < count:
            raise ValueError("it ends in the middle of its header")
        return data
