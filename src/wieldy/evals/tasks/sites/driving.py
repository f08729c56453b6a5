"""A browser at work on one site: the page that is shown, what it is asked, and waiting until nothing more comes of it.

Law: it never reaches another address than the site's own: for all others its network is a proxy that refuses every
connection. What an action has begun is waited for, up to a limit, by what the browser tells and never by time alone.
Deliberately not here: what is done on a page (`chromium`), and the browser's process (`devtools`).
"""

from __future__ import annotations

import socket
import time
from typing import Any, Final
from urllib.parse import urlsplit

from wieldy.evals.tasks.sites.devtools import BrowserGoneError, Chromium, DevToolsError, answer_in

_ANSWER_S: Final = 60.0
_SETTLING_S: Final = 15.0
"""How long what an action has begun is waited for, such as requests that never end."""

_QUIET_MS: Final = 50
"""Of the page's time, in which its scripts may go on after the last thing that they waited for."""

_NOTHING_MORE: Final = (
    f"new Promise(done => {{ const soon = () => setTimeout(done, {_QUIET_MS});"
    " document.readyState === 'complete' ? soon() : addEventListener('load', soon) })"
)
_ENDLESS: Final = frozenset({"EventSource", "WebSocket", "Ping"})
"""Kinds of requests that say nothing of whether the page is ready."""

_ARGUMENTS: Final = ("--force-webrtc-ip-handling-policy=disable_non_proxied_udp",)
_BLANK: Final = "about:blank"


class Driver:
    """The browser, used by one thread at a time.

    Args:
        program: The browser's.
        root: The site's address.

    Attributes:
        dialog: What the page asks, for whose answer it stands still; None where it does not.
    """

    def __init__(self, program: str, root: str) -> None:
        self.dialog: dict[str, Any] | None = None
        self._nowhere = socket.socket()  # bound and never listening: whoever connects to it is refused
        self._nowhere.bind(("127.0.0.1", 0))
        self._pages: list[tuple[str, str]] = []
        self._opened: list[str] = []
        self._loading = set[str]()
        self._requests = set[str]()
        self._changes = 0
        self._context = ""
        self._chromium = Chromium(program, timeout_s=_ANSWER_S, arguments=_ARGUMENTS)
        try:
            self._begin(urlsplit(root).netloc)
        except BaseException:
            self.close()
            raise

    def _begin(self, own: str) -> None:
        send = self._send
        refusing = f"http://127.0.0.1:{self._nowhere.getsockname()[1]}"
        told = send("Target.createBrowserContext", proxyServer=refusing, proxyBypassList=f"<-loopback>;{own}")
        self._context = told["browserContextId"]
        send("Browser.setDownloadBehavior", behavior="deny", browserContextId=self._context)
        send("Target.setDiscoverTargets", discover=True)
        self._attach(send("Target.createTarget", url=_BLANK, browserContextId=self._context)["targetId"])

    def _attach(self, target: str) -> None:
        """The page is the one that is shown."""
        session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._pages.append((target, session))
        for domain in ("Page", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)

    def kill(self) -> None:
        """The browser has ended: whoever waits for it is told so."""
        self._chromium.kill()

    def close(self) -> None:
        """Nothing of it is left; nobody uses it any more."""
        self._chromium.close()
        self._nowhere.close()

    @property
    def address(self) -> str | None:
        """Of the page that is shown; None where none was opened yet.

        Raises:
            DevToolsError: The browser gives no answer.
        """
        entries, at = self._history()
        address = str(entries[at]["url"])
        return None if address == _BLANK and len(entries) == len(self._pages) == 1 else address

    def ask(self, method: str, *, within_s: float = _ANSWER_S, **parameters: Any) -> dict[str, Any]:
        """The answer of the page; empty where a dialog came before it, for which the answer would wait.

        Raises:
            DevToolsError: It could not do that, or gave no answer in time.
            BrowserGoneError: The browser has ended.
        """
        number = self._chromium.post(method, self._pages[-1][1], **parameters)
        deadline = time.monotonic() + within_s
        while True:
            told = self._chromium.receive(max(0.0, deadline - time.monotonic()))
            if told.get("id") == number:
                return answer_in(told, method)
            self._take(told)
            if self.dialog is not None:
                return {}

    def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer of the browser itself; what it told before that is taken in."""
        answer = self._chromium.send(method, **parameters)
        for told in self._chromium.events:
            self._take(told)
        self._chromium.events.clear()
        return answer

    def back(self) -> bool:
        """The page before is shown; whether there was one."""
        entries, at = self._history()
        if at > 0 and entries[at - 1]["url"] != _BLANK:
            self.ask("Page.navigateToHistoryEntry", entryId=entries[at - 1]["id"])
        elif len(self._pages) > 1:
            self._send("Target.closeTarget", targetId=self._pages.pop()[0])
        else:
            return False
        return True

    def _history(self) -> tuple[list[dict[str, Any]], int]:
        told = self.ask("Page.getNavigationHistory")
        return told["entries"], told["currentIndex"]

    def settle(self) -> None:
        """Nothing more comes of what was done, as far as can be seen, or the limit on waiting is reached.

        Raises:
            BrowserGoneError: The browser has ended.
        """
        deadline = time.monotonic() + _SETTLING_S
        while self.dialog is None and (left := deadline - time.monotonic()) > 0:
            before = self._changes
            try:
                self.ask("Runtime.evaluate", expression=_NOTHING_MORE, awaitPromise=True, within_s=left)
                if self._opened:
                    self._attach(self._opened.pop(0))
                elif self._loading or self._requests:
                    self._take(self._chromium.receive(max(0.0, deadline - time.monotonic())))
                elif self._changes == before:
                    return
            except BrowserGoneError:
                raise
            except DevToolsError:  # a page that is being left has no answer; nor has one that is busy
                continue
        self._requests.clear()
        self._loading.clear()

    def _take(self, told: dict[str, Any]) -> None:
        said = told.get("params", {})
        match told.get("method"):
            case "Page.javascriptDialogOpening":
                self.dialog = dict(said)
            case "Page.frameStartedLoading":
                self._loading.add(said["frameId"])
            case "Page.frameStoppedLoading" | "Page.frameDetached":
                self._loading.discard(said["frameId"])
            case "Network.requestWillBeSent" if said.get("type") not in _ENDLESS:
                self._requests.add(said["requestId"])
            case "Network.loadingFinished" | "Network.loadingFailed":
                self._requests.discard(said["requestId"])
            case "Target.targetCreated":
                self._see(said["targetInfo"])
            case "Target.targetDestroyed":
                left = [page for page in self._pages if page[0] != said["targetId"]]
                self._pages = left or self._pages
            case _:
                return
        self._changes += 1

    def _see(self, target: dict[str, Any]) -> None:
        """A page that another one has opened is shown next."""
        if target["type"] == "page" and target.get("openerId") and target.get("browserContextId") == self._context:
            self._opened.append(target["targetId"])
