"""HTML as a page: what is said and what can be done, in the order in which it stands there.

Whatever the HTML, a page comes of it: broken HTML is read as far as it goes. Deliberately not here: scripts and styles,
which are not run; what is shown follows from the HTML alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Final

from wieldy.evals.tasks.sites.pages import Control, Form, Page

_BLOCKS: Final = frozenset(
    {"p", "div", "li", "tr", "br", "hr", "section", "article", "main", "header", "footer", "nav", "form", "ul", "ol"}
    | {"table", "fieldset", "legend", "label", "dl", "dt", "dd", "pre", "blockquote", "title"}
)
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SKIPPED: Final = frozenset({"script", "style", "template", "noscript"})
_VOID: Final = frozenset({"input", "img", "br", "hr", "meta", "link", "area", "base", "col", "source", "wbr"})
_BUTTONS: Final = frozenset({"submit", "button", "reset", "image"})
_TICKED: Final = {"checkbox": "checkbox", "radio": "radio"}


def read_page(html: str) -> Page:
    """What the HTML says, and what can be done on it; broken HTML is read as far as it goes."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.page()


class _Reader(HTMLParser):
    """Takes the page element by element."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._title = ""
        self._lines: list[str | Control] = []
        self._words: list[str] = []
        self._skipped: list[str] = []
        self._form: Form | None = None
        self._inside: Control | None = None
        self._labels: dict[str, str] = {}
        self._ids: dict[str, Control] = {}
        self._label: tuple[str, list[str], list[Control]] | None = None
        self._option: tuple[str, bool] | None = None
        self._starts: dict[str, Callable[[dict[str, str]], None]] = {
            "form": self._start_form,
            "label": self._start_label,
            "a": self._start_link,
            "button": self._start_button,
            "textarea": lambda given: self._begin(self._field("textbox", given), given),
            "select": lambda given: self._begin(self._field("combobox", given), given),
            "option": self._start_option,
            "input": self._input,
            "img": self._start_image,
            "td": self._start_cell,
            "th": self._start_cell,
        }
        self._ends: dict[str, Callable[[], None]] = {
            "form": self._end_form,
            "title": self._end_title,
            "option": self._end_option,
            "label": self._end_label,
            **dict.fromkeys(("a", "button", "textarea", "select"), self._end),
        }

    # The parser's own

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if self._skipped or tag in _SKIPPED or "hidden" in given:
            if tag not in _VOID:
                self._skipped.append(tag)
            return
        if tag in _BLOCKS or tag in _HEADINGS:
            self._break()
        start = self._starts.get(tag)
        if start is not None:
            start(given)

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            if tag in self._skipped:
                del self._skipped[self._skipped.index(tag) :]
            return
        end = self._ends.get(tag)
        if end is not None:
            end()
        elif tag in _HEADINGS:
            words = self._taken()
            if words:
                self._lines.append(f"# {words}")
        elif tag in _BLOCKS:
            self._break()

    def handle_data(self, data: str) -> None:
        if self._skipped:
            return
        if self._inside is not None and self._inside.role == "textbox":
            self._inside.value += data
            return
        if data.strip():
            self._words += data.split()
            if self._label is not None and self._inside is None:
                self._label[1].extend(data.split())

    # Elements by their names

    def _start_form(self, given: dict[str, str]) -> None:
        self._form = Form(action=given.get("action", ""), method=given.get("method", "get").lower())

    def _start_label(self, given: dict[str, str]) -> None:
        self._label = (given.get("for", ""), [], [])

    def _start_link(self, given: dict[str, str]) -> None:
        if "href" in given:
            self._begin(Control(role="link", target=given["href"], label=given.get("aria-label", "")), given)

    def _start_button(self, given: dict[str, str]) -> None:
        self._begin(self._button(given, submits=given.get("type", "submit") == "submit"), given)

    def _start_option(self, given: dict[str, str]) -> None:
        self._option = (given.get("value", ""), "selected" in given)
        self._words = []

    def _start_image(self, given: dict[str, str]) -> None:
        if given.get("alt"):
            self._words.append(given["alt"])

    def _start_cell(self, given: dict[str, str]) -> None:
        del given
        if self._words:
            self._words.append("|")

    def _end_form(self) -> None:
        self._break()
        self._form = None

    def _end_title(self) -> None:
        self._title = self._taken()

    # Controls

    def _input(self, given: dict[str, str]) -> None:
        kind = given.get("type", "text").lower()
        if kind == "hidden":
            self._add(self._field("hidden", given))
        elif kind in _BUTTONS:
            self._add(self._button(given, submits=kind in ("submit", "image")), given)
        elif kind in _TICKED:
            control = self._field(_TICKED[kind], {"value": "on", **given})
            control.is_on = "checked" in given
            self._add(control, given)
        else:
            self._add(self._field("textbox", given), given)

    def _field(self, role: str, given: dict[str, str]) -> Control:
        label = given.get("aria-label") or given.get("placeholder") or given.get("title") or ""
        return Control(
            role=role, label=label, name=given.get("name", ""), value=given.get("value", ""), form=self._form
        )

    def _button(self, given: dict[str, str], *, submits: bool) -> Control:
        control = self._field("button", given)
        control.label = given.get("aria-label") or given.get("value", "")
        control.submits = submits
        return control

    def _begin(self, control: Control, given: dict[str, str]) -> None:
        """A control whose content follows."""
        self._end()
        self._break()
        self._inside = control
        self._know(control, given)

    def _end(self) -> None:
        control = self._inside
        if control is None:
            return
        self._inside = None
        words = self._taken()
        if control.role in ("link", "button") and words:
            control.label = words
        if control.role == "combobox" and not control.value and control.options:
            control.value = control.options[0][0]  # what a browser shows if nothing is selected
        self._add(control)

    def _end_option(self) -> None:
        if self._option is None:
            return
        value, selected = self._option
        self._option, words = None, self._taken()
        if self._inside is not None and self._inside.role == "combobox":
            self._inside.options.append((value or words, words))
            if selected:
                self._inside.value = value or words

    def _end_label(self) -> None:
        if self._label is None:
            return
        target, words, within = self._label
        self._label, name = None, " ".join(words)
        self._break()
        if target:
            self._labels[target] = name
        for control in within:
            control.label = control.label or name

    def _add(self, control: Control, given: dict[str, str] | None = None) -> None:
        if given is not None:
            self._know(control, given)
        if control.form is not None:
            control.form.controls.append(control)
        if control.role != "hidden":
            self._break()
            self._lines.append(control)

    def _know(self, control: Control, given: dict[str, str]) -> None:
        if given.get("id"):
            self._ids[given["id"]] = control
        if self._label is not None:
            self._label[2].append(control)

    # Words

    def _taken(self) -> str:
        words, self._words = " ".join(self._words), []
        return words

    def _break(self) -> None:
        if self._inside is not None:
            return
        words = self._taken().strip("| ")
        if words:
            self._lines.append(words)

    def page(self) -> Page:
        """What was read."""
        self._end()
        self._break()
        for target, name in self._labels.items():
            if target in self._ids:
                self._ids[target].label = name
        controls = [each for each in self._lines if isinstance(each, Control)]
        for control in controls:
            control.label = re.sub(r"\s+", " ", control.label).strip()
        return Page(title=self._title, lines=tuple(self._lines), controls=tuple(controls))
