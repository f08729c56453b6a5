"""A browser of text for one site: where it is, what can be done there, and what is sent.

Law: it never asks another site than its own. Deliberately not here: scripts, images and files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode, urljoin, urlsplit

import anyio
import httpx2

from wieldy.core.errors import ToolError
from wieldy.evals.tasks.sites.pages import Control, Page
from wieldy.evals.tasks.sites.reading import read_page
from wieldy.tools import tool

_SHOWN: Final = 12_000
"""Characters of a page that are shown at once."""


class Browser:
    """The page that is open, and the tools that act on it, one call after the other."""

    def __init__(self, client: httpx2.AsyncClient, root: str) -> None:
        self._client = client
        self._root = root
        self._address = root
        self._page: Page | None = None
        self._one = anyio.Lock()

    @property
    def tools(self) -> list[Callable[..., object]]:
        """What a model may do."""
        browser = self

        @tool(effect="idempotent")
        async def goto(path: str) -> str:
            """Open a page of the site, and read it.

            Args:
                path: Its path, such as `/` or `/orders`.
            """
            async with browser._one:
                return await browser._open("GET", urljoin(browser._root, path))

        @tool(effect="read")
        async def read() -> str:
            """Read the page that is open, with what was typed."""
            async with browser._one:
                return browser._shown()

        @tool(effect="unsafe")
        async def click(control: int) -> str:
            """Follow a link, press a button, or tick a box; read the page that comes of it.

            Args:
                control: Its number in brackets.
            """
            async with browser._one:
                return await browser._click(browser._control(control))

        @tool(effect="idempotent", name="type")
        async def type_text(control: int, text: str) -> str:
            """Write into a textbox what it is to hold, or choose an option of a combobox by what it says.

            Args:
                control: Its number in brackets.
                text: What is to stand there.
            """
            async with browser._one:
                return browser._type(browser._control(control), text)

        return [goto, read, click, type_text]

    def _control(self, number: int) -> Control:
        page = self._opened()
        if not 1 <= number <= len(page.controls):
            raise ToolError(f"There is no control [{number}] on this page: there are [1] to [{len(page.controls)}].")
        return page.controls[number - 1]

    def _opened(self) -> Page:
        if self._page is None:
            raise ToolError("No page is open yet: call `goto` first.")
        return self._page

    def _shown(self) -> str:
        return shown(self._address, self._opened())

    def _type(self, control: Control, text: str) -> str:
        if control.role == "combobox":
            value = next((value for value, label in control.options if text in (label, value)), None)
            if value is None:
                raise ToolError(f"{text!r} is none of the options: {', '.join(label for _, label in control.options)}.")
            control.value = value
        elif control.role == "textbox":
            control.value = text
        else:
            raise ToolError(f"Nothing can be written into a {control.role}: click it.")
        return self._shown()

    async def _click(self, control: Control) -> str:
        if control.role == "link":
            return await self._open("GET", urljoin(self._address, control.target))
        if control.role == "checkbox":
            control.is_on = not control.is_on
            return self._shown()
        if control.role == "radio":
            for other in control.form.controls if control.form is not None else (control,):
                if other.role == "radio" and other.name == control.name:
                    other.is_on = other is control
            return self._shown()
        if control.role == "button" and control.submits and control.form is not None:
            return await self._submit(control)
        raise ToolError(f"Clicking this {control.role} does nothing.")

    async def _submit(self, button: Control) -> str:
        form = button.form
        assert form is not None
        fields = [(each.name, each.value) for each in form.controls if _is_sent(each, button)]
        target = urljoin(self._address, form.action)
        if form.method == "post":
            return await self._open("POST", target, urlencode(fields))
        return await self._open("GET", f"{target.partition('?')[0]}?{urlencode(fields)}")

    async def _open(self, method: str, address: str, body: str | None = None) -> str:
        for _ in range(10):
            if urlsplit(address)[:2] != urlsplit(self._root)[:2]:
                raise ToolError(f"{address} is another site: this browser shows one site only.")
            headers = {} if body is None else {"content-type": "application/x-www-form-urlencoded"}
            answer = await self._client.request(method, address, content=body, headers=headers)
            if answer.status_code not in (301, 302, 303, 307, 308):
                self._address, self._page = address, read_page(answer.text)
                note = "" if answer.status_code < 400 else f"[status {answer.status_code}]\n"
                return note + self._shown()
            address = urljoin(address, answer.headers.get("location", ""))
            if answer.status_code in (301, 302, 303):
                method, body = "GET", None
        raise ToolError("The page leads on and on: it redirected ten times.")


def shown(address: str, page: Page) -> str:
    """A page as a model reads it: where it is, and what it says."""
    text, where = page.text, urlsplit(address)
    cut = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}\n[{len(text) - _SHOWN} characters more]"
    return f"At {where.path or '/'}{'?' + where.query if where.query else ''}\n{cut}"


def _is_sent(control: Control, button: Control) -> bool:
    """Whether a control's value is part of what its form sends when this button is pressed."""
    if not control.name:
        return False
    if control.role == "button":
        return control is button
    return control.is_on if control.role in ("checkbox", "radio") else True
