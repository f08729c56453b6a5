"""A real browser as tools: pages with scripts, told as text, and acted on as a person would with mouse and keys.

Deliberately not here: reaching the browser and waiting for it (`driving`), and how a page is told (`accessibility`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from wieldy.core.errors import ToolError
from wieldy.evals.tasks.sites.accessibility import Told, read_tree
from wieldy.evals.tasks.sites.browser import shown
from wieldy.evals.tasks.sites.devtools import DevToolsError
from wieldy.evals.tasks.sites.driving import Driver
from wieldy.evals.tasks.sites.pages import Control, Page
from wieldy.tools import tool

_FILL: Final = """function (text) {
  const changed = () => ['input', 'change'].forEach(kind => this.dispatchEvent(new Event(kind, {bubbles: true})));
  const quoted = JSON.stringify(text);
  if (this.disabled || this.readOnly) return 'It cannot be changed.';
  if (this instanceof HTMLSelectElement) {
    const found = [...this.options].find(each => each.label.trim() === text || each.value === text);
    if (!found) return `${quoted} is none of the options: ${[...this.options].map(each => each.label).join(', ')}.`;
    found.selected = true;
    changed();
    return '';
  }
  if (this.type === 'file') return 'Files cannot be chosen here.';
  if (/^(date|time|month|week|datetime-local|range|color)$/.test(this.type)) {
    this.value = text;
    changed();
    return this.value === text ? '' : `It is a box for a ${this.type} and did not take ${quoted}.`;
  }
  this.focus();
  this.select ? this.select() : getSelection().selectAllChildren(this);
  return this.tagName;
}"""
"""Chooses or sets, and says what is wrong; where text has to be typed, it is ready for that, and its tag is said."""

_READINGS: Final = 3
"""How often a page is read that has become another one meanwhile."""

_DOES_NOTHING: Final = "The page waits for an answer, and there is nothing of this number to use."


class ChromiumBrowser:
    """The page that is open, and the tools that act on it, one call after the other.

    Args:
        program: The browser's.
        root: The site's address.

    Raises:
        DevToolsError: The program is no browser that can be driven.
    """

    def __init__(self, program: str, root: str) -> None:
        self._root = root
        self._one = threading.Lock()
        self._told: Told | None = None
        self._driver = Driver(program, root)

    def close(self) -> None:
        """The browser has ended; a call that is being carried out fails."""
        self._driver.kill()
        with self._one:
            self._driver.close()

    @property
    def tools(self) -> list[Callable[..., object]]:
        """What a model may do."""
        browser = self

        @tool(effect="idempotent")
        def goto(path: str) -> str:
            """Open a page of the site, and read it.

            Args:
                path: Its path, such as `/` or `/orders`.
            """
            with browser._one:
                return browser._goto(path)

        @tool(effect="read")
        def read() -> str:
            """Read the page that is open, as it is now."""
            with browser._one:
                return browser._read()

        @tool(effect="unsafe")
        def click(control: int) -> str:
            """Click a link, a button, a box or whatever else has a number; read the page that comes of it.

            Args:
                control: Its number in brackets.
            """
            with browser._one:
                return browser._click(control)

        @tool(effect="unsafe", name="type")
        def type_text(control: int, text: str) -> str:
            """Write into a textbox what it is to hold, or choose an option of a combobox by what it says.

            Args:
                control: Its number in brackets.
                text: What is to stand there. In a box of one line, a line end behind it presses Enter.
            """
            with browser._one:
                return browser._type(control, text)

        @tool(effect="idempotent")
        def back() -> str:
            """Go back to the page before, and read it."""
            with browser._one:
                return browser._back()

        return [goto, read, click, type_text, back]

    def _goto(self, path: str) -> str:
        address = urljoin(self._root, path)
        if not self._is_own(address):
            raise ToolError(f"{address} is another site: this browser shows one site only.")
        self._check_no_dialog()
        failure = self._driver.ask("Page.navigate", url=address).get("errorText")
        if failure not in (None, "net::ERR_ABORTED"):  # aborted: the site answered that there is nothing to show
            raise ToolError(f"The page {path!r} could not be opened: {failure}.")
        return self._read()

    def _read(self) -> str:
        """The page that is shown; where another one came while it was read, that one."""
        driver, text = self._driver, ""
        for _ in range(_READINGS):
            driver.settle()
            if driver.dialog is not None:
                return shown(self._root, _asking(driver.dialog))
            address = driver.address
            if address is None:
                raise ToolError("No page is open yet: call `goto` first.")
            self._check_is_own(address)
            self._told = read_tree(driver.ask("Accessibility.getFullAXTree").get("nodes", ()))
            text = shown(address, self._told.page)
            if driver.dialog is None and driver.address == address:
                break
        return text

    def _check_is_own(self, address: str) -> None:
        if urlsplit(address).scheme != "about" and not self._is_own(address):
            self._driver.back()
            self._driver.settle()
            raise ToolError(
                f"{address} is another site: this browser shows one site only, and has stayed where it was."
            )

    def _click(self, number: int) -> str:
        if self._driver.dialog is not None:
            return self._answer(number)
        element, _ = self._control(number)
        place = self._place_of(element)
        if place is None:  # such as a box that is drawn by something else
            self._call(element, "function () { this.click() }")
        else:
            at: dict[str, Any] = {"x": place[0], "y": place[1], "button": "left", "clickCount": 1}
            for kind in ("mousePressed", "mouseReleased"):
                self._driver.ask("Input.dispatchMouseEvent", type=kind, **at)
        return self._read()

    def _type(self, number: int, text: str) -> str:
        dialog = self._driver.dialog
        if dialog is not None:
            if number != 3 or dialog["type"] != "prompt":
                raise ToolError(_DOES_NOTHING)
            dialog["defaultPrompt"] = text
            return self._read()
        element, role = self._control(number)
        if role not in ("textbox", "combobox"):
            raise ToolError(f"Nothing can be written into a {role}: click it.")
        said = self._call(element, _FILL, text.rstrip("\n"))
        if said and not said.isupper():
            raise ToolError(said)
        if said:
            self._write(text, is_one_line=said == "INPUT")
        return self._read()

    def _write(self, text: str, *, is_one_line: bool) -> None:
        written = text.rstrip("\n") if is_one_line else text
        if written:
            self._driver.ask("Input.insertText", text=written)
        else:
            self._press("Delete", 46)
        if text != written:
            self._press("Enter", 13, text="\r")

    def _press(self, key: str, number: int, **more: Any) -> None:
        for kind in ("keyDown", "keyUp"):
            said = more if kind == "keyDown" else {}
            self._driver.ask(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=number, **said
            )

    def _back(self) -> str:
        self._check_no_dialog()
        if not self._driver.back():
            raise ToolError("There is no page before this one.")
        return self._read()

    def _answer(self, number: int) -> str:
        dialog = self._driver.dialog
        assert dialog is not None
        controls = _asking(dialog).controls
        if not 1 <= number <= len(controls) or controls[number - 1].role != "button":
            raise ToolError(_DOES_NOTHING)
        self._driver.dialog = None
        text = str(dialog.get("defaultPrompt", ""))
        self._driver.ask("Page.handleJavaScriptDialog", accept=number == 1, promptText=text)
        return self._read()

    def _check_no_dialog(self) -> None:
        if self._driver.dialog is not None:
            raise ToolError(f"The page waits for an answer first. {_asking(self._driver.dialog).text}")

    def _is_own(self, address: str) -> bool:
        return urlsplit(address)[:2] == urlsplit(self._root)[:2]

    def _control(self, number: int) -> tuple[int, str]:
        """The element of a control, and its role."""
        if self._told is None:
            raise ToolError("No page is open yet: call `goto` first.")
        page, elements = self._told
        if not 1 <= number <= len(elements):
            raise ToolError(f"There is no control [{number}] on this page: there are [1] to [{len(elements)}].")
        return elements[number - 1], page.controls[number - 1].role

    def _place_of(self, element: int) -> tuple[float, float] | None:
        """Its middle, in pixels of the window; None where it takes no room there."""
        with suppress(DevToolsError):
            self._driver.ask("DOM.scrollIntoViewIfNeeded", backendNodeId=element)
            for quad in self._driver.ask("DOM.getContentQuads", backendNodeId=element).get("quads", ()):
                if abs(quad[4] - quad[0]) > 1 and abs(quad[5] - quad[1]) > 1:
                    return sum(quad[::2]) / 4, sum(quad[1::2]) / 4
        return None

    def _call(self, element: int, function: str, *arguments: str) -> str:
        """What a function says of the element; nothing where it says nothing, or a dialog came before."""
        try:
            node = self._driver.ask("DOM.resolveNode", backendNodeId=element)["object"]["objectId"]
        except DevToolsError:
            raise ToolError("This control is not on the page any more: read the page again.") from None
        given = [{"value": each} for each in arguments]
        told = self._driver.ask(
            "Runtime.callFunctionOn", functionDeclaration=function, objectId=node, arguments=given, returnByValue=True
        )
        return str(told.get("result", {}).get("value") or "")


def _asking(dialog: dict[str, str]) -> Page:
    """A question of the page, with its answers as controls."""
    controls = [Control(role="button", label="OK")]
    if dialog["type"] != "alert":
        controls.append(Control(role="button", label="Cancel"))
    if dialog["type"] == "prompt":
        controls.append(Control(role="textbox", label="Answer", value=str(dialog.get("defaultPrompt", ""))))
    return Page(title="", lines=(f"The page asks: {dialog['message']}", *controls), controls=controls)
