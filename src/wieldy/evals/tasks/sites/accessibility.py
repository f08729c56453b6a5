"""The accessibility tree of a real browser as a page: what a screen reader would tell, with controls in their places.

Whatever the tree, a page comes of it. Roles and names are the browser's own, so what scripts and styles have made of
the HTML is in them, and what is hidden is not. Deliberately not here: asking the browser (`chromium`), and frames.
Source: https://chromedevtools.github.io/devtools-protocol/tot/Accessibility/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from wieldy.evals.tasks.sites.pages import Control, Page

_ROLES: Final = {
    **dict.fromkeys(("link", "button", "checkbox", "radio", "combobox", "textbox"), ""),
    **dict.fromkeys(("menuitem", "tab", "treeitem", "DisclosureTriangle", "PopUpButton"), "button"),
    **dict.fromkeys(("switch", "menuitemcheckbox"), "checkbox"),
    "menuitemradio": "radio",
    "listbox": "combobox",
    **dict.fromkeys(("searchbox", "spinbutton", "slider", "ColorWell", "InputTime"), "textbox"),
    **dict.fromkeys(("Date", "DateTime", "DateTimeLocal", "Month", "Week", "Time"), "textbox"),
}
"""What a control of a role is told as; empty for the role itself."""

_INLINE: Final = frozenset(
    {"emphasis", "strong", "code", "mark", "time", "subscript", "superscript", "insertion", "deletion", "LabelText"}
)
_CELLS: Final = frozenset({"cell", "gridcell", "columnheader", "rowheader"})
_PASSED_OVER: Final = frozenset({"ListMarker", "InlineTextBox"})


class Told(NamedTuple):
    """A page, and for each of its controls the number by which the browser knows the element."""

    page: Page
    elements: Sequence[int]


def read_tree(nodes: Sequence[Mapping[str, Any]]) -> Told:
    """What the nodes say, which the browser gives as one list with the root in front."""
    reader = _Reader(nodes)
    reader.read()
    return reader.told()


class _Reader:
    def __init__(self, nodes: Sequence[Mapping[str, Any]]) -> None:
        self._root: Mapping[str, Any] = nodes[0] if nodes else {}
        self._nodes = {str(node.get("nodeId")): node for node in nodes}
        self._lines: list[str | Control] = []
        self._words: list[str] = []
        self._elements: list[int] = []

    def read(self) -> None:
        """Node after node, each once, without going deeper for a deeper tree."""
        seen = set[int]()
        waiting: list[tuple[Mapping[str, Any] | None, int | None]] = [(self._root, None)]
        while waiting:
            node, heading = waiting.pop()
            if node is None:
                self._leave(heading)
            elif id(node) not in seen:
                seen.add(id(node))
                if not self._is_whole(node):
                    starts = self._enter(node)
                    children = [(child, None) for child in self._children(node)]
                    waiting += [(None, starts), *reversed(children)] if starts is not None else reversed(children)
        self._break()

    def _is_whole(self, node: Mapping[str, Any]) -> bool:
        """Whether the node is told, or passed over, without what is in it."""
        role = _role_of(node)
        if role == "StaticText":
            self._words.append(_text(node, "name"))
        elif role == "image":
            self._words.append(f" {_text(node, 'name')} ")
        elif role == "LineBreak":
            self._break()
        elif role == "Iframe":
            self._break()
            self._lines.append("[a frame, which is not shown]")
        elif (told := _told_as(node)) and isinstance(element := node.get("backendDOMNodeId"), int):
            self._break()
            self._lines.append(self._control(node, told))
            self._elements.append(element)
        else:
            return role in _PASSED_OVER
        return True

    def _enter(self, node: Mapping[str, Any]) -> int | None:
        """Begins what stands apart; for what must be left again, where its lines begin, or -1."""
        role = _role_of(node)
        if role in _CELLS:
            if "".join(self._words).strip():
                self._words.append(" | ")
            return None
        if not role or role in _INLINE:
            return None
        self._break()
        return len(self._lines) if role == "heading" else -1

    def _leave(self, start: int | None) -> None:
        self._break()
        if start is not None and 0 <= start < len(self._lines):
            first = self._lines[start]
            self._lines[start] = f"# {first}" if isinstance(first, str) else first

    def _control(self, node: Mapping[str, Any], told: str) -> Control:
        label, value, properties = _text(node, "name"), _text(node, "value"), _properties(node)
        if properties.get("disabled") is True:
            label = f"{label} (disabled)"
        control = Control(role=told, label=_one_line(label), value=value)
        if told in ("checkbox", "radio"):
            control.is_on = str(properties.get("checked")) == "true"
        elif told == "combobox":
            options = [each for each in self._beneath(node) if _role_of(each) == "option"]
            names = [_one_line(_text(each, "name")) for each in options]
            chosen = [
                name for name, each in zip(names, options, strict=True) if _properties(each).get("selected") is True
            ]
            control.options = [(name, name) for name in names]
            control.value = chosen[0] if chosen else value
        return control

    def _children(self, node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        return [self._nodes[child] for child in node.get("childIds", ()) if child in self._nodes]

    def _beneath(self, node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        seen, waiting = set[int](), self._children(node)[::-1]
        while waiting:
            each = waiting.pop()
            if id(each) not in seen:
                seen.add(id(each))
                yield each
                waiting += self._children(each)[::-1]

    def _break(self) -> None:
        words, self._words = _one_line("".join(self._words)).strip("| "), []
        if words:
            self._lines.append(words)

    def told(self) -> Told:
        """What was read."""
        controls = tuple(each for each in self._lines if isinstance(each, Control))
        return Told(Page(title=_text(self._root, "name"), lines=tuple(self._lines), controls=controls), self._elements)


def _role_of(node: Mapping[str, Any]) -> str:
    """Empty for what a screen reader does not tell of, but for what is in it."""
    return "" if node.get("ignored") else _text(node, "role")


def _told_as(node: Mapping[str, Any]) -> str:
    """What a control is told as; empty for what is none."""
    role, properties = _role_of(node), _properties(node)
    if properties.get("editable") and (role in ("combobox", "textbox") or properties.get("focusable") is True):
        return "textbox"
    return _ROLES[role] or role if role in _ROLES else ""


def _properties(node: Mapping[str, Any]) -> dict[str, Any]:
    return {str(each.get("name")): each.get("value", {}).get("value") for each in node.get("properties", ())}


def _text(node: Mapping[str, Any], name: str) -> str:
    value = node.get(name, {}).get("value")
    return "" if value is None else str(value)


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
