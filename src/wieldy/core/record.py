"""What every call of a run makes anew, such as messages and events, is a `Record`: immutable, and compared by value.

It does what a frozen dataclass with slots and keyword-only fields does, `dataclasses.replace`, `fields` and `asdict`
included, and is made in a tenth of the time. What is made once for a whole run is a plain dataclass.
"""

from __future__ import annotations

from dataclasses import Field, make_dataclass
from functools import cache
from typing import Any, ClassVar, Self, cast

from msgspec import NODEFAULT, Struct
from msgspec.structs import asdict


@cache
def _dataclass_of(owner: type[Struct]) -> Any:
    """The dataclass with the same fields, for those who only know dataclasses."""
    twin: Any = make_dataclass(owner.__name__, owner.__annotations__.items(), kw_only=True)
    twin.__module__, twin.__doc__ = owner.__module__, owner.__doc__
    optional = owner.__struct_fields__[len(owner.__struct_fields__) - len(owner.__struct_defaults__) :]
    for name, default in zip(optional, owner.__struct_defaults__, strict=True):
        if default is not NODEFAULT:
            twin.__dataclass_fields__[name].default = default
    return twin


class _FieldsWhenAsked:
    """Made when somebody asks for them: an import should not pay for it."""

    def __get__(self, instance: object, owner: type[Struct]) -> dict[str, Field[Any]]:
        return _dataclass_of(owner).__dataclass_fields__


class Record(Struct, frozen=True, kw_only=True):
    """Fields are given by name and never change; records of one class with equal fields are equal."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]] = cast("Any", _FieldsWhenAsked())

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Any) -> Any:
        """For pydantic: a tool may take or return records as it may dataclasses."""
        twin = _dataclass_of(cls)
        schema = handler.generate_schema(twin)

        def to_record(given: object) -> Self:
            return cls(**vars(given))

        def to_dataclass(record: Record) -> object:
            return twin(**asdict(record))

        return {
            "type": "function-after",
            "function": {"type": "no-info", "function": to_record},
            "schema": schema,
            "serialization": {"type": "function-plain", "function": to_dataclass, "return_schema": schema},
        }
