"""Databases of the benchmark, begun afresh for each environment and compared, without copying or reading all of them.

An environment gets tables that share their entries with the database that was read once, and copy an entry before
anybody can change it. Two databases are then alike if they differ from the first one in the same way, which only
entries that were copied can. Law: what is done on a fresh database changes neither the first one nor another fresh
one, and two are alike exactly if the benchmark's digests of them are equal. Deliberately not here: what is done.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, MutableMapping
from typing import Any, cast

from pydantic import BaseModel


class Table(dict[str, Any]):
    """Entries by key, shared until they are read; what is read may be changed and is a copy.

    Its storage is that of a dictionary, so that pydantic writes it as one.
    """

    def __init__(self, entries: Mapping[str, Any]) -> None:
        super().__init__(entries)
        self._shared = entries

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if value is self._shared.get(key):
            value = _copy(value)
            super().__setitem__(key, value)
        return value

    def pop(self, key: str, *default: Any) -> Any:
        """The entry, which is then gone, or the default."""
        if key in self:
            self[key]  # what is given away may be changed as well
        return super().pop(key, *default)

    # What reads or writes entries goes by way of the two above; a dictionary's own would go past them.
    get = Mapping.get  # type: ignore[assignment]
    items = Mapping.items  # type: ignore[assignment]
    values = Mapping.values  # type: ignore[assignment]
    update = MutableMapping.update  # type: ignore[assignment]
    setdefault = MutableMapping.setdefault  # type: ignore[assignment]


def fresh(database: Any) -> Any:
    """The database as it was read, to be changed at will. Cost: of tables of models, a reference for each entry."""
    if not isinstance(database, BaseModel):
        return _copy(database)
    copied = database.model_copy()
    for name, value in _fields(database).items():
        setattr(copied, name, Table(value) if _is_table(value) else _copy(value))
    return copied


def shared(database: Any) -> Any:
    """The database as it is now, to be read only: nothing of its tables is copied."""
    if not isinstance(database, BaseModel) or not any(isinstance(each, Table) for each in _fields(database).values()):
        return database
    plain = database.model_copy()
    for name, value in _fields(database).items():
        if isinstance(value, Table):
            setattr(plain, name, dict(value))
    return plain


def changes(database: Any, before: Any) -> str:
    """How a database differs from the one that was read, as JSON; alike for those alike in what the benchmark compares.

    Cost: linear in the entries of tables that were read, and in all else.
    """
    fields, first = _fields(database), _fields(before)
    return _json({name: _changed(fields.get(name), first.get(name)) for name in fields.keys() | first.keys()})


def _changed(value: Any, before: Any) -> Any:
    if not (isinstance(value, dict) and isinstance(before, dict)):
        return _said(value, before)
    now, then = cast("dict[str, Any]", value), cast("dict[str, Any]", before)
    found: dict[str, str] = {}
    for key in now.keys() | then.keys():
        entry = dict[str, Any].get(now, key)  # as it stands: reading it from a table would copy it
        if entry is not then.get(key) and (text := _said(entry, then.get(key))) is not None:
            found[key] = text
    return found


def _said(value: Any, before: Any) -> str | None:
    """The value as JSON, `gone` where there is none any more, None where it is as it was."""
    if value is None:
        return None if before is None else "gone"
    text = _json(value)
    return None if before is not None and text == _json(before) else text


def _fields(database: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", database.__dict__) if isinstance(database, BaseModel) else database


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(each, BaseModel) for each in cast("dict[str, Any]", value).values()
    )


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    return value.model_dump() if isinstance(value, BaseModel) else str(value)


def _copy(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # which is made right here
