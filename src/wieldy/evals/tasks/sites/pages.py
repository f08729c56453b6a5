"""A page of HTML as text for a model: what it says, and numbered controls with their roles and names.

Roles and names are those that a screen reader would tell: links, buttons, boxes to write in, boxes to tick, lists to
choose from. Law: controls are numbered from 1 in the order of the page, and each is told once. Deliberately not here:
HTML (`reading`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

_TICKED: Final = ("checkbox", "radio")


@dataclass(slots=True, kw_only=True)
class Form:
    """Where what is filled in goes.

    Attributes:
        controls: Those in it, hidden ones included.
    """

    action: str = ""
    method: str = "get"
    controls: list[Control] = field(default_factory=list["Control"])


@dataclass(slots=True, kw_only=True, eq=False)
class Control:
    """Something that can be used.

    Attributes:
        role: `link`, `button`, `textbox`, `checkbox`, `radio`, `combobox` or `hidden`.
        label: Its name, as it is told.
        name: Under which its value is sent; empty for none.
        target: Where a link leads.
        options: Of a list to choose from: value and what is shown.
        submits: Whether pressing it sends its form.
    """

    role: str
    label: str = ""
    name: str = ""
    value: str = ""
    target: str = ""
    is_on: bool = False
    options: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    submits: bool = False
    form: Form | None = None

    def told(self, number: int) -> str:
        """As a line of text."""
        head = f'[{number}] {self.role} "{self.label}"'
        if self.role == "textbox":
            return f'{head}: "{self.value}"'
        if self.role in _TICKED:
            return f"{head}: {'on' if self.is_on else 'off'}"
        if self.role == "combobox":
            shown = dict(self.options).get(self.value, "")
            return f'{head}: "{shown}" of {", ".join(label for _, label in self.options)}'
        return head


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page.

    Attributes:
        title: Empty if it has none.
        lines: What it says, controls in their places.
        controls: Numbered from 1.
    """

    title: str
    lines: Sequence[str | Control]
    controls: Sequence[Control]

    @property
    def text(self) -> str:
        """All of it, as it is now."""
        numbers = {id(control): number for number, control in enumerate(self.controls, 1)}
        told = [each if isinstance(each, str) else each.told(numbers[id(each)]) for each in self.lines]
        return "\n".join(([f"Page: {self.title}"] if self.title else []) + told)
