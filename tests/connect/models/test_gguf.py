"""What is read of a GGUF file's header, from files that a writer here makes."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wieldy.connect.models.gguf import read_metadata
from wieldy.core.errors import ModelNotAvailableError

# Type numbers of the specification, with the layout of their values.
LAYOUTS = {
    "uint8": (0, "B"),
    "int8": (1, "b"),
    "uint16": (2, "H"),
    "int16": (3, "h"),
    "uint32": (4, "I"),
    "int32": (5, "i"),
    "float32": (6, "f"),
    "bool": (7, "?"),
    "uint64": (10, "Q"),
    "int64": (11, "q"),
    "float64": (12, "d"),
}


def text(value: str | bytes) -> bytes:
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


def number(kind: str, value: Any) -> bytes:
    return struct.pack("<I", LAYOUTS[kind][0]) + struct.pack(f"<{LAYOUTS[kind][1]}", value)


def string(value: str | bytes) -> bytes:
    return struct.pack("<I", 8) + text(value)


def numbers(kind: str, values: list[Any]) -> bytes:
    code, layout = LAYOUTS[kind]
    return struct.pack("<IIQ", 9, code, len(values)) + struct.pack(f"<{len(values)}{layout}", *values)


def strings(values: list[str]) -> bytes:
    return struct.pack("<IIQ", 9, 8, len(values)) + b"".join(map(text, values))


def nested(values: list[bytes]) -> bytes:
    """An array of arrays, each given as it would stand alone."""
    return struct.pack("<IIQ", 9, 9, len(values)) + b"".join(value[4:] for value in values)


def header(pairs: Mapping[str, bytes], *, version: int = 3, count: int | None = None) -> bytes:
    body = b"".join(text(name) + value for name, value in pairs.items())
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(pairs) if count is None else count) + body


def read(folder: Path, data: bytes) -> Mapping[str, Any]:
    file = folder / "model.gguf"
    file.write_bytes(data)
    return read_metadata(file)


@pytest.mark.parametrize("version", [2, 3])
def test_every_kind_of_value_is_read_in_both_versions(tmp_path: Path, version: int) -> None:
    values = {kind: 1.5 if kind.startswith("float") else True if kind == "bool" else 7 for kind in LAYOUTS}
    pairs = {kind: number(kind, value) for kind, value in values.items()}
    assert read(tmp_path, header(pairs, version=version)) == values


def test_texts_lists_and_lists_of_lists_are_read(tmp_path: Path) -> None:
    pairs = {
        "name": string("Größe 🙂"),
        "": string(""),
        "tokens": strings(["a", "", "é"]),
        "scores": numbers("float32", [0.5, -1.0]),
        "none": numbers("int32", []),
        "deep": nested([numbers("uint8", [1, 2]), strings(["x"]), nested([numbers("bool", [True])])]),
    }
    assert read(tmp_path, header(pairs)) == {
        "name": "Größe 🙂",
        "": "",
        "tokens": ["a", "", "é"],
        "scores": [0.5, -1.0],
        "none": [],
        "deep": [[1, 2], ["x"], [[True]]],
    }


def test_bytes_that_are_no_utf8_are_replaced_and_what_follows_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, header({"a": string(b"x\xff"), "b": string("y")})) == {"a": "x\ufffd", "b": "y"}


def _kinds(layout: str) -> st.SearchStrategy[Any]:
    if layout == "?":
        return st.booleans()
    if layout in "fd":
        return st.floats(allow_nan=False, width=32 if layout == "f" else 64)
    bits = struct.calcsize(f"<{layout}") * 8
    low, high = (0, 2**bits - 1) if layout.isupper() else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return st.integers(low, high)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ENTRIES = st.one_of(
    TEXTS.map(lambda value: (string(value), value)),
    st.lists(TEXTS, max_size=4).map(lambda values: (strings(values), values)),
    st.sampled_from(sorted(LAYOUTS)).flatmap(
        lambda kind: _kinds(LAYOUTS[kind][1]).map(lambda value: (number(kind, value), value))
    ),
    st.sampled_from(sorted(LAYOUTS)).flatmap(
        lambda kind: st.lists(_kinds(LAYOUTS[kind][1]), max_size=4).map(lambda values: (numbers(kind, values), values))
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(entries=st.dictionaries(TEXTS, ENTRIES, max_size=5), tensors=st.binary(max_size=30))
def test_what_was_written_is_read_whatever_follows_the_header(
    tmp_path: Path, entries: dict[str, tuple[bytes, Any]], tensors: bytes
) -> None:
    data = header({name: written for name, (written, _) in entries.items()}) + tensors
    assert read(tmp_path, data) == {name: value for name, (_, value) in entries.items()}


def test_a_file_cut_anywhere_is_refused_in_words(tmp_path: Path) -> None:
    whole = header(
        {"a": string("text"), "b": numbers("int16", [1, 2]), "c": strings(["x", "y"]), "d": number("bool", True)}
    )
    assert read(tmp_path, whole)
    for length in range(len(whole)):
        with pytest.raises(ModelNotAvailableError, match=r"Expected a GGUF model file.*model\.gguf.*Fetch it again"):
            read(tmp_path, whole[:length])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.binary(max_size=200), begins_well=st.booleans())
def test_arbitrary_bytes_are_read_or_refused(tmp_path: Path, data: bytes, begins_well: bool) -> None:
    try:
        found = read(tmp_path, b"GGUF\x03\x00\x00\x00" + data if begins_well else data)
    except ModelNotAvailableError:
        return
    assert isinstance(found, dict)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "ends in the middle"),
        (b"PK\x03\x04 a zip file", "does not begin with 'GGUF'"),
        (header({}, version=1), "version 1 where 2 or 3"),
        (struct.pack(">4sIQQ", b"GGUF", 3, 0, 0), "version 50331648"),
        (header({"a": struct.pack("<I", 99)}), "unknown type 99"),
        (header({}, count=2**63), f"a list of {2**63} items"),
        (header({"a": struct.pack("<IQ", 8, 2**62)}), f"a text of {2**62} bytes"),
        (header({"a": struct.pack("<IIQ", 9, 8, 2**60)}), f"a list of {2**60} items"),
        (header({"a": struct.pack("<IIQ", 9, 12, 2**24)}), "ends in the middle"),
        (header({"a": struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 100_000}), "lists within lists"),
    ],
)
def test_headers_that_cannot_be_are_refused_with_the_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    with pytest.raises(ModelNotAvailableError, match=reason):
        read(tmp_path, data)


@pytest.mark.parametrize("name", ["missing.gguf", ".", "a" * 300])
def test_what_is_no_file_is_refused_with_its_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelNotAvailableError, match="Cannot read the model file"):
        read_metadata(tmp_path / name)
