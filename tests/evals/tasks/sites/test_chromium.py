"""A real browser for sites: pages with scripts, acted on by mouse and keys, and no address but the site's own."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
import pytest

from wieldy import UsageError
from wieldy.core.errors import ToolError
from wieldy.evals.cases.case import Suite
from wieldy.evals.studies.running import Study, run_study
from wieldy.evals.tasks.environments import MissingProgramError
from wieldy.evals.tasks.sites import Request, Response, Site, site
from wieldy.evals.tasks.sites.devtools import find_chromium
from wieldy.evals.tasks.task import Task
from wieldy.evals.tasks.task_cases import case_of

Asked = list[Any]


needs_browser = pytest.mark.skipif(
    find_chromium() is None, reason="no Chromium is installed; on Debian and Ubuntu: apt-get install chromium"
)


FORM = """<title>Form</title><h1 id="said">Head</h1>
<form action="/send" method="POST"><label for="who">Your name</label><input id="who" name="who" value="A">
<label><input type="checkbox" name="news"> News</label>
<label><input type="radio" name="size" value="s" checked> Small</label>
<label><input type="radio" name="size" value="l"> Large</label>
<select name="colour" aria-label="Colour"><option value="r">Red</option><option selected>Blue</option></select>
<textarea name="text" aria-label="Words">old</textarea><input type="date" name="day" aria-label="Day">
<button name="how" value="fast">Send</button></form>
<button onclick="said.textContent = confirm('Sure?') ? 'Yes' : 'No'">Ask</button>
<button onclick="said.textContent = prompt('Which?', 'this')">Which</button>
<button onclick="setTimeout(() => alert('Too late'), 0)">Late</button>
<a href="/second" target="_blank">Second</a>
<div style="display: none"><button>Hidden</button></div>
<script>document.body.append(Object.assign(document.createElement('p'), {textContent: 'By a script'}))</script>"""


def echo(asked: Asked, request: Request) -> Response:
    asked.append([request.method, request.path, dict(request.fields)])
    if request.path == "/":
        return Response(html=FORM)
    if request.path == "/send":
        return Response(location="/done")
    return Response(html=f"<title>{request.path}</title><p>Here is {request.path}.</p><input aria-label='Box'>")


def site_of(answer: Any) -> Site[Asked]:
    return Site[Asked](name="echo", start=list, answer=answer, look=list, browser="chromium")


SITE = site_of(echo)


class Acting:
    """The tools of a site, called from a thread as a run does."""

    def __init__(self, tools: Any) -> None:
        self._tools = {each.name: each for each in cast("list[Any]", tools)}

    async def __call__(self, name: str, *arguments: Any) -> str:
        return await anyio.to_thread.run_sync(self._tools[name], *arguments)


@needs_browser
@pytest.mark.anyio
async def test_a_form_is_filled_in_and_sent_as_by_a_person() -> None:
    async with SITE.begin() as stage:
        act = Acting(stage.tools)
        shown = await act("goto", "/")
        assert shown.startswith("At /\nPage: Form\n# Head\nYour name\n[1] textbox")
        assert "By a script" in shown
        assert "Hidden" not in shown
        await act("type", 1, "Zoë & Co")
        await act("click", 2)
        assert '[4] radio "Large": on' in await act("click", 4)
        assert '[5] combobox "Colour": "Red" of Red, Blue' in await act("type", 5, "Red")
        await act("type", 6, "new\nline")
        await act("type", 7, "2026-03-01")
        assert '[1] textbox "Your name": "Zoë & Co"' in await act("read")
        assert await act("click", 8) == 'At /done\nPage: /done\nHere is /done.\n[1] textbox "Box": ""'
        (_, sent, _) = cast("list[Any]", await stage.look())
        assert sent == [
            "POST",
            "/send",
            {
                "who": "Zoë & Co", "news": "on", "size": "l", "colour": "r", "text": "new\r\nline",
                "day": "2026-03-01", "how": "fast",
            },
        ]  # fmt: skip
        assert (await act("back")).startswith("At /\n")


@needs_browser
@pytest.mark.anyio
async def test_a_page_that_asks_waits_for_its_answer() -> None:
    async with SITE.begin() as stage:
        act = Acting(stage.tools)
        await act("goto", "/")
        assert await act("click", 9) == 'At /\nThe page asks: Sure?\n[1] button "OK"\n[2] button "Cancel"'
        for name, arguments in (("goto", ("/",)), ("back", ()), ("click", (3,)), ("click", (0,)), ("type", (3, "x"))):
            with pytest.raises(ToolError, match="waits for an answer"):
                await act(name, *arguments)
        assert "# No" in await act("click", 2)
        await act("click", 9)
        assert "# Yes" in await act("click", 1)
        assert '[3] textbox "Answer": "this"' in await act("click", 10)
        assert '[3] textbox "Answer": "that"' in await act("type", 3, "that")
        assert "# that" in await act("click", 1)
        assert await act("click", 11) == 'At /\nThe page asks: Too late\n[1] button "OK"'
        assert "# that" in await act("click", 1)


@needs_browser
@pytest.mark.anyio
async def test_what_cannot_be_done_is_said_and_changes_nothing() -> None:
    async with SITE.begin() as stage:
        act = Acting(stage.tools)
        for name, arguments in (("read", ()), ("click", (1,)), ("type", (1, "x"))):
            with pytest.raises(ToolError, match="No page is open"):
                await act(name, *arguments)
        with pytest.raises(ToolError, match="no page before"):
            await act("back")
        shown = await act("goto", "/")
        for name, arguments, words in (
            ("click", (0,), r"\[1\] to \[12\]"),
            ("type", (13, "x"), r"\[1\] to \[12\]"),
            ("type", (5, "Green"), "Red, Blue"),
            ("type", (7, "tomorrow"), "box for a date"),
            ("type", (2, "x"), "click it"),
            ("goto", ("https://elsewhere.example/",), "another site"),
            ("goto", ("file:///etc/passwd",), "another site"),
            ("goto", ("chrome://version",), "another site"),
            ("goto", ("javascript:alert(1)",), "another site"),
        ):
            with pytest.raises(ToolError, match=words):
                await act(name, *arguments)
        assert await act("read") == shown


@needs_browser
@pytest.mark.anyio
async def test_a_page_that_opens_in_a_window_of_its_own_is_the_one_that_is_shown() -> None:
    async with SITE.begin() as stage:
        act = Acting(stage.tools)
        await act("goto", "/")
        assert (await act("click", 12)).startswith("At /second\n")
        assert '[1] textbox "Box": "x"' in await act("type", 1, "x")
        assert (await act("back")).startswith("At /\nPage: Form")


REACHING = """<title>Out</title><p id="said">waiting</p>
<a href="http://OTHER/link">Link</a><a href="http://OTHER/new" target="_blank">New</a>
<form action="http://OTHER/form" method="POST"><button>Form</button></form>
<iframe src="http://OTHER/frame"></iframe><img src="http://OTHER/image"><link rel="stylesheet" href="http://OTHER/style">
<script src="http://OTHER/script"></script><script>
const tries = [fetch('http://OTHER/fetch'), fetch('http://localhost:PORT/name', {mode: 'no-cors'}),
  fetch('http://[::1]:PORT/six', {mode: 'no-cors'}), fetch('http://127.1.2.3:PORT/loop', {mode: 'no-cors'}),
  new Promise((_, fail) => { new WebSocket('ws://OTHER/socket').onerror = fail; })];
navigator.sendBeacon('http://OTHER/beacon', 'x');
Promise.allSettled(tries).then(all => { said.textContent = all.map(each => each.status).join(' '); });
</script>"""


@needs_browser
@pytest.mark.anyio
async def test_no_other_address_is_reached_by_whatever_a_page_does() -> None:
    with closing(socket.create_server(("0.0.0.0", 0))) as other:
        port = other.getsockname()[1]
        page = REACHING.replace("OTHER", f"127.0.0.1:{port}").replace("PORT", str(port))
        async with site_of(lambda _, __: Response(html=page)).begin() as stage:
            act = Acting(stage.tools)
            assert "rejected rejected rejected rejected rejected" in await act("goto", "/")
            for control in (1, 2, 3):
                with pytest.raises(ToolError, match="another site"):
                    await act("click", control)
                assert "[1] link" in await act("read")
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.accept()


@needs_browser
@pytest.mark.anyio
async def test_what_an_action_begins_is_waited_for() -> None:
    page = """<title>Slow</title><p id="said">0</p><button onclick="go()">Go</button><script>
        async function go() {
          for (let n = 0; n < 5; n++) {
            said.textContent = await (await fetch('/' + n)).text();
            await new Promise(later => setTimeout(later, 30));
          }
          location.href = '/end';
        }</script>"""

    def answer(asked: Asked, request: Request) -> Response:
        asked.append(request.path)
        return Response(html=page if request.path == "/" else f"<p>{request.path}</p>")

    async with site_of(answer).begin() as stage:
        act = Acting(stage.tools)
        await act("goto", "/")
        assert await act("click", 1) == "At /end\n/end"
        assert await stage.look() == ["/", "/0", "/1", "/2", "/3", "/4", "/end"]


@needs_browser
@pytest.mark.anyio
async def test_sites_at_once_have_browsers_of_their_own() -> None:
    async def visit(number: int) -> None:
        async with SITE.begin() as stage:
            act = Acting(stage.tools)
            await act("goto", f"/{number}")
            await act("goto", f"/{number}")
            assert await stage.look() == [["GET", f"/{number}", {}]] * 2

    async with anyio.create_task_group() as group:
        for number in range(2):
            group.start_soon(visit, number)


KILLED = """
import os, signal, sys, anyio
from wieldy.evals import Response, Site

async def main():
    site = Site(name="s", start=list, answer=lambda *_: Response(html="<p>Hello"), look=list, browser="chromium")
    async with site.begin() as stage:
        await anyio.to_thread.run_sync(stage.tools[0], "/")
        os.kill(os.getpid(), signal.SIGKILL)

anyio.run(main)
"""


@needs_browser
def test_a_browser_ends_with_the_program_that_is_killed(tmp_path: Path) -> None:
    # All of the browser's processes hold the other end of this pipe open, which has its end only once they are gone.
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", KILLED], pass_fds=[writing], env=environment, timeout=200, check=False)
    os.close(writing)
    assert done.returncode == -signal.SIGKILL
    with os.fdopen(reading, "rb") as pipe:
        ready, _, _ = select.select([pipe], [], [], 120)
        assert ready
        assert pipe.read() == b""


@pytest.mark.anyio
async def test_without_a_browser_the_trial_is_unscored_and_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(site, "find_chromium", lambda: None)
    with pytest.raises(MissingProgramError, match="apt-get install chromium"):
        async with SITE.begin():
            pass
    case = case_of(Task(id="a", prompt="Go.", environment=SITE, scripts={"oracle": ()}))
    study = Study(suite=Suite(name="s", cases=(case,), source={}), models=("script:oracle",), folder=tmp_path)
    (trial,) = await run_study(study, lambda _: None)
    assert (trial.verdict.kind, trial.verdict.layer, trial.verdict.code) == ("unscored", "environment", "no-program")


def test_another_browser_makes_another_site_and_one_that_there_is_not_is_refused() -> None:
    plain = Site[Asked](name="echo", start=list, answer=echo, look=SITE.look)
    assert (
        plain.identity != Site[Asked](name="echo", start=list, answer=echo, look=SITE.look, browser="chromium").identity
    )
    with pytest.raises(UsageError, match="text, chromium"):
        Site[Asked](name="echo", start=list, answer=echo, look=SITE.look, browser=cast("Any", "lynx"))
    assert json.dumps(SITE.look([]))
