"""A site of one's own as an environment: served on the loopback interface for each trial, with a state of its own.

A site is a function from its state and a request to a response. The model sees it through a browser of text, or a real
one where pages have scripts; whether the task was solved is seen from the state of the server. Deliberately not here:
sites of others, which change.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final, Generic, Literal, TypeAlias, TypeVar, cast, get_args
from urllib.parse import parse_qsl, urlsplit

import anyio
import anyio.to_thread
import httpx2

from wieldy.core.errors import ToolError, UsageError
from wieldy.evals.tasks.environments import MissingProgramError, Stage
from wieldy.evals.tasks.identities import identity_of
from wieldy.evals.tasks.sites.browser import Browser
from wieldy.evals.tasks.sites.chromium import ChromiumBrowser
from wieldy.evals.tasks.sites.devtools import DevToolsError, find_chromium

if TYPE_CHECKING:
    from wieldy.core.json import JsonValue
    from wieldy.evals.tasks.environments import ToolLike

State = TypeVar("State")

BrowserName: TypeAlias = Literal["text", "chromium"]

_MOST_BYTES: Final = 1 << 20
"""Of a request's body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a site is asked.

    Attributes:
        method: `GET` or `POST`.
        path: Without the query.
        fields: Of the query or of the form that was sent; of several with one name, the last.
        body: What was sent, as text, for scripts that send something else than a form.
    """

    method: str
    path: str
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What it answers.

    Attributes:
        location: Where the browser is to go instead; None to show the HTML.
        content_type: Of what is in `html`, for scripts, styles and data.
    """

    html: str = ""
    status: int = 200
    location: str | None = None
    content_type: str = "text/html; charset=utf-8"


@dataclass(frozen=True, kw_only=True)  # no slots: with them `Site[State](...)` fails before Python 3.12
class Site(Generic[State]):
    """A site.

    Attributes:
        name: By which it is known: with another name, or version of it, tasks on it are other tasks.
        start: Makes a fresh state, always the same.
        answer: What the site answers; it may change the state.
        look: A state as JSON.
        browser: `text` reads the HTML and runs no scripts; `chromium` is a real one, which must be installed.
    """

    name: str
    start: Callable[[], State]
    answer: Callable[[State, Request], Response]
    look: Callable[[State], JsonValue]
    browser: BrowserName = "text"

    def __post_init__(self) -> None:
        if self.browser not in get_args(BrowserName):
            raise UsageError(
                f"Expected `browser` to be one of {', '.join(get_args(BrowserName))}, found {self.browser!r}."
            )

    @property
    def identity(self) -> str:
        """A digest of its name, of what it begins with, of its code and of the browser."""
        return identity_of(self.name, self.look(self.start()), self.start, self.answer, self.look, self.browser)

    @asynccontextmanager
    async def begin(self) -> AsyncGenerator[Stage]:
        """The site with a fresh state, and a browser that has opened nothing yet.

        A look fails where an answer has failed: nobody knows what a model would have reached on a site that works.

        Raises:
            MissingProgramError: It wants a browser that is not here.
        """
        state, lock, failures = self.start(), threading.Lock(), list[str]()

        def answer(request: Request) -> Response:
            with lock:
                try:
                    return _checked(self.answer(state, request))
                except BaseException as error:  # a site is somebody's code, and this thread only answers
                    failures.append(f"{request.method} {request.path}: {type(error).__name__}: {error}")
                    return Response(status=500, html=f"<p>The site failed: {type(error).__name__}.</p>")

        async def look() -> JsonValue:
            with lock:
                if failures:
                    raise ToolError(f"The site failed on {failures[0]}")
                return self.look(state)

        with _served(answer) as address:
            opening = _in_chromium(address) if self.browser == "chromium" else _as_text(address)
            async with opening as tools:
                yield Stage(tools=tools, look=look)

    def judge(self, end: JsonValue) -> None:
        """Nothing: conditions and checks of a task say what the state is to be."""
        del end

    def measures(self, end: JsonValue) -> Mapping[str, float]:
        """Nothing is counted."""
        del end
        return {}


def _checked(answered: object) -> Response:
    if not isinstance(answered, Response) or not isinstance(cast("object", answered.html), str):
        raise TypeError(f"expected a Response whose html is text, found {answered!r:.80}")
    return answered


@asynccontextmanager
async def _as_text(address: str) -> AsyncGenerator[Sequence[ToolLike]]:
    async with httpx2.AsyncClient(trust_env=False, timeout=30.0) as client:
        yield Browser(client, address).tools


@asynccontextmanager
async def _in_chromium(address: str) -> AsyncGenerator[Sequence[ToolLike]]:
    program = find_chromium()
    if program is None:
        raise MissingProgramError(
            "Pages with scripts need Chromium or Chrome, which is not installed here; on Debian and Ubuntu: "
            "apt-get install chromium."
        )
    try:
        browser = await anyio.to_thread.run_sync(ChromiumBrowser, program, address)
    except DevToolsError as error:
        raise MissingProgramError(f"{program} cannot be driven: {error}") from error
    try:
        yield browser.tools
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(browser.close)


@contextmanager
def _served(answer: Callable[[Request], Response]) -> Generator[str]:
    """The address at which a server answers, until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, answer))
    server.daemon_threads = True
    thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.05), name="site", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    def __init__(self, answer: Callable[[Request], Response], *arguments: object) -> None:
        self._answer = answer
        super().__init__(*arguments)  # type: ignore[arg-type] - as the server calls it

    def do_GET(self) -> None:
        """A page is asked for; the icon that browsers ask for by themselves is none."""
        if urlsplit(self.path).path == "/favicon.ico":
            self._send(Response(status=404))
        else:
            self._handle("GET", urlsplit(self.path).query)

    def do_POST(self) -> None:
        """A form is sent."""
        size = int(self.headers.get("content-length") or 0)
        if size > _MOST_BYTES:
            self._send(Response(status=413, html="<p>That is too much.</p>"))
            return
        self._handle("POST", self.rfile.read(size).decode("utf-8", errors="replace"))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Nothing is printed: the journal has what the model did."""

    def _handle(self, method: str, fields: str) -> None:
        request = Request(
            method=method,
            path=urlsplit(self.path).path,
            fields=dict(parse_qsl(fields, keep_blank_values=True)),
            body=fields if method == "POST" else "",
        )
        self._send(self._answer(request))

    def _send(self, answered: Response) -> None:
        body = answered.html.encode()
        self.send_response(answered.status if answered.location is None else 303)
        if answered.location is not None:
            self.send_header("location", answered.location)
        self.send_header("content-type", answered.content_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
