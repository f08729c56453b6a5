"""A headless Chromium that tests drive, over the client of the DevTools protocol that sites have.

A page is opened from a file; what it asks the network for, what it writes to the console and what goes wrong in its
script is kept.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wieldy.evals.tasks.sites.devtools import Chromium

KEYS = {"Escape": 27, "Enter": 13, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40, "ArrowUp": 38, "Tab": 9}


class Browser(Chromium):
    """The browser's process. Every answer is waited for until a deadline."""

    def __init__(self, program: str, *, timeout_s: float = 120.0) -> None:
        super().__init__(program, timeout_s=timeout_s)

    @contextmanager
    def page(self, *, width: int = 1280, height: int = 900, dark: bool = False) -> Iterator[Page]:
        """An empty page, closed at the end of the block."""
        context = self.send("Target.createBrowserContext")["browserContextId"]
        target = self.send("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        try:
            page = Page(self, session)
            page.resize(width, height, dark=dark)
            yield page
        finally:
            self.send("Target.disposeBrowserContext", browserContextId=context)


class Page:
    """One page. `complaints` is what went to the console and what went wrong; `requests` whatever it asked for."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self._files: set[str] = set()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to a command about this page."""
        return self._browser.send(method, self._session, **parameters)

    def resize(self, width: int, height: int, *, dark: bool = False) -> None:
        """The window is of this size, in pixels."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, file: Path, address: str = "") -> None:
        """The file is open, and its script has shown something."""
        self._files.add(file.resolve().as_uri())
        self.send("Page.navigate", url="about:blank")  # else another address of the same file would load nothing
        self.send("Page.navigate", url=file.resolve().as_uri() + address)
        self.wait("document.readyState === 'complete' && !document.querySelector('.loading')")

    def value(self, expression: str) -> Any:
        """What an expression is in the page; a promise is waited for."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """The condition holds: it is looked at each time the page is drawn."""
        waiting = (
            "new Promise((resolve, reject) => { const end = performance.now() + 60000; const look = () => "
            f"({condition}) ? resolve(true) : performance.now() > end ? reject(new Error('never'))"
            " : setTimeout(look, 20); look(); })"
        )
        assert self.value(waiting) is True

    def text(self, selector: str) -> str:
        """The visible text of the first element."""
        return self.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? null")

    def count(self, selector: str) -> int:
        """How many elements there are."""
        return self.value(f"document.querySelectorAll({json.dumps(selector)}).length")

    def click(self, selector: str) -> None:
        """The element was scrolled to and clicked where it is."""
        place = self.value(
            f"(() => {{ const node = document.querySelector({json.dumps(selector)});"
            " node.scrollIntoView({block: 'center'}); const box = node.getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def press(self, key: str) -> None:
        """A key was pressed and released."""
        code = KEYS.get(key, ord(key.upper()[0]))
        text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def picture(self, file: Path, *, whole: bool = False) -> None:
        """The file shows the page as a PNG."""
        options: dict[str, Any] = {"captureBeyondViewport": whole}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            options["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1}
        file.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png", **options)["data"]))

    def pdf(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self.send("Page.printToPDF", preferCSSPageSize=True)["data"])

    @property
    def complaints(self) -> list[str]:
        """Errors, warnings and exceptions."""
        self.value("1")  # what was on its way is here
        found = list[str]()
        for event in self._browser.events:
            if event.get("sessionId") != self._session:
                continue
            said = event["params"]
            is_loud = event["method"] == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert")
            if is_loud or event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded"):
                found.append(json.dumps(said))
        return found

    @property
    def requests(self) -> list[str]:
        """The addresses of everything that was asked for, but for the file itself."""
        self.value("1")
        asked = [
            event["params"]["request"]["url"]
            for event in self._browser.events
            if event.get("sessionId") == self._session and event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in asked if url.partition("#")[0] not in {*self._files, "about:blank"}]
