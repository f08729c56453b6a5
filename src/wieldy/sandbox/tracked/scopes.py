"""Names and what they stand for, in scopes within scopes."""

from __future__ import annotations

from wieldy.sandbox.tracked.objects import CLEAN, Label, Value


class Env:
    """One scope.

    Attributes:
        names: The names that are of this scope, bound or not.
        module_names: Names that the scope says are the module's.
        perhaps: Names that would be bound, or not bound, had data been different; and whose data.
    """

    __slots__ = ("module", "module_names", "names", "parent", "perhaps", "values")

    def __init__(self, parent: Env | None, names: frozenset[str], module_names: frozenset[str] = frozenset()) -> None:
        self.parent = parent
        self.names = names
        self.module_names = module_names
        self.values: dict[str, Value] = {}
        self.perhaps: dict[str, Label] = {}
        self.module: Env = parent.module if parent else self

    def owner(self, name: str) -> Env | None:
        """The scope that the name is of; None if it is of none."""
        env: Env | None = self
        while env is not None:
            if name in env.names:
                return env
            if name in env.module_names:
                return env.module
            env = env.parent
        return None

    def find(self, name: str) -> Value | None:
        """What the name stands for, if anything."""
        owner = self.owner(name)
        return owner.values.get(name) if owner else None

    def store(self, name: str, value: Value, control: Label) -> None:
        """Binds the name, under that control."""
        owner = self.owner(name) or self.module
        owner.values[name] = Value(value.data, value.label | control) if control & ~value.label else value
        if owner.perhaps and owner.perhaps.get(name, CLEAN) & ~control:
            owner.perhaps.pop(name, None)

    def delete(self, name: str, control: Label) -> bool:
        """Unbinds the name, under that control; False if it was not bound."""
        owner = self.owner(name) or self.module
        if control:
            owner.perhaps[name] = owner.perhaps.get(name, CLEAN) | control
        return owner.values.pop(name, None) is not None

    def taint(self, name: str, label: Label, *, is_deleted: bool) -> None:
        """Says that the label had a part in what the name stands for, and in whether for anything."""
        value = self.values.get(name)
        if value is not None:
            self.values[name] = Value(value.data, value.label | label)
        if value is None or is_deleted:
            self.perhaps[name] = self.perhaps.get(name, CLEAN) | label
