"""The file: JSON lines, or parquet, written whole or not at all, and never over anything else.

Law: the lines read back are the rows. Memory is that of one line, or of one batch of parquet.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from wieldy.core.errors import UsageError
from wieldy.core.extras import installing

if TYPE_CHECKING:
    from wieldy.evals.export.row import Row
    from wieldy.evals.export.views import View

BATCH: Final = 256
"""Rows of parquet that are held at once."""


def check_new(file: Path) -> None:
    """Nothing is lost if this is written to the file.

    Raises:
        UsageError: Something is there.
    """
    if file.is_dir() or not file.parent.is_dir():
        raise UsageError(f"{file}: expected the name of a file in a folder that exists.")
    if file.exists() and file.stat().st_size:
        raise UsageError(f"{file} exists, and is left as it is. Name another file.")


def write_rows(file: Path, rows: Iterable[Row], view: View, *, as_text: bool = False) -> None:
    """The rows are in the file, whole.

    Args:
        file: Where; it must not exist, or be empty.
        rows: As they come.
        view: What of them is written.
        as_text: Whether arguments are written as JSON text.

    Raises:
        UsageError: The file cannot be written, or there is something, or parquet's package is not installed.
    """
    check_new(file)
    lines = (_line(row, view, as_text=as_text) for row in rows)
    try:
        with _replacing(file) as out:
            if view.is_parquet:
                _write_parquet(out, lines)
            else:
                for line in lines:
                    out.write(
                        json.dumps(line, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")
                        + b"\n"
                    )
    except OSError as error:
        raise UsageError(f"{file}: the rows cannot be written here: {error.strerror}. Name another file.") from error


def _line(row: Row, view: View, *, as_text: bool) -> dict[str, Any]:
    line = view.write(row, as_text=as_text)
    if row.tokens and not view.takes_mask:  # its trainer would read messages beside the tokens
        line = {name: line[name] for name in ("id", "split") if name in line}
    return {**line, **row.tokens}


@contextmanager
def _replacing(file: Path) -> Generator[IO[bytes]]:
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", suffix=".tmp", delete=False) as out:
        try:
            yield out
            out.flush()
            os.fsync(out.fileno())
        except BaseException:
            with suppress(OSError):
                Path(out.name).unlink()
            raise
    mask = os.umask(0)
    os.umask(mask)
    Path(out.name).chmod(0o644 & ~mask)
    Path(out.name).replace(file)


def _write_parquet(out: IO[bytes], lines: Iterator[dict[str, Any]]) -> None:
    arrow, parquet = parquet_package()
    schema = _schema(arrow)
    with parquet.ParquetWriter(out, schema) as writer:
        while batch := list(islice(lines, BATCH)):
            writer.write_table(arrow.Table.from_pylist(batch, schema=schema))


def parquet_package() -> tuple[Any, Any]:
    """What writes parquet.

    Raises:
        UsageError: It is not installed.
    """
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(f"Parquet needs a package: {installing('export')}.") from error


def _schema(arrow: Any) -> Any:
    """One schema for all rows, so that none is given what another has: arguments and tools are JSON text in it."""
    text = arrow.string()
    function = arrow.struct([("name", text), ("arguments", text)])
    call = arrow.struct([("id", text), ("type", text), ("function", function)])
    message = arrow.struct(
        [
            ("role", text),
            ("content", text),
            ("reasoning_content", text),
            ("tool_calls", arrow.list_(call)),
            ("tool_call_id", text),
        ]
    )
    return arrow.schema([("id", text), ("messages", arrow.list_(message)), ("tools", text), ("split", text)])
