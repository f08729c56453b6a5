"""Sites: what a page of HTML is as text, a browser that stays on its site, and a server with a state of each trial."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.errors import ToolError
from wieldy.evals import Condition, ExpectedCall, Task
from wieldy.evals.cases.case import Suite
from wieldy.evals.studies.running import Study, run_study
from wieldy.evals.tasks.sites import Request, Response, Site
from wieldy.evals.tasks.sites.reading import read_page
from wieldy.evals.tasks.task_cases import case_of

FORM = """
<title>Odd &amp; ends</title><script>alert("no")</script><style>p {}</style>
<h1>Things</h1><p>One   <b>bold</b> word.</p><p hidden>secret<p>also secret</p></p>
<form action="/send" method="POST">
  <input type="hidden" name="token" value="t">
  <label for="who">Your name</label><input id="who" name="who" value="A">
  <label><input type="checkbox" name="news"> News, please</label>
  <label><input type="radio" name="size" value="s" checked> Small</label>
  <label><input type="radio" name="size" value="l"> Large</label>
  <select name="colour" aria-label="Colour"><option value="r">Red</option><option selected>Blue</option></select>
  <textarea name="text" placeholder="Words">old</textarea>
  <button name="how" value="fast">Send</button><button type="button">Nothing</button>
</form>
<table><tr><td>a</td><td>b</td></tr></table><a href="/more">More</a><a href="https://elsewhere.example/">Away</a>
"""


def test_a_page_is_told_with_its_controls_in_their_places() -> None:
    assert read_page(FORM).text.split("\n") == [
        "Page: Odd & ends",
        "# Things",
        "One bold word.",
        "Your name",
        '[1] textbox "Your name": "A"',
        '[2] checkbox "News, please": off',
        "News, please",
        '[3] radio "Small": on',
        "Small",
        '[4] radio "Large": off',
        "Large",
        '[5] combobox "Colour": "Blue" of Red, Blue',
        '[6] textbox "Words": "old"',
        '[7] button "Send"',
        '[8] button "Nothing"',
        "a | b",
        '[9] link "More"',
        '[10] link "Away"',
    ]


PAIRED = st.sampled_from(
    ["p", "form", "a", "button", "select", "option", "label", "script", "h1", "textarea", "title", "div", "table", "td"]
)
PIECES = st.one_of(
    PAIRED.map(lambda tag: f"<{tag}>"),
    PAIRED.map(lambda tag: f"</{tag}>"),
    st.sampled_from(["<a href='/x'>", "<input name=a>", "<div hidden>", "word", "&amp;", "<", "</", "<!--", "-->"]),
)


@given(st.lists(PIECES, max_size=30))
def test_whatever_the_html_controls_are_numbered_from_one_and_each_is_told_once(pieces: list[str]) -> None:
    page = read_page("".join(pieces))
    numbers = [int(number) for number in re.findall(r"^\[(\d+)\] ", page.text, re.MULTILINE)]
    assert numbers == list(range(1, len(page.controls) + 1))


Asked = list[Request]


def echo(asked: Asked, request: Request) -> Response:
    asked.append(request)
    if request.path == "/loop":
        return Response(location="/loop")
    if request.path == "/away":
        return Response(location="https://elsewhere.example/")
    if request.path == "/broken":
        raise KeyError(request.path)
    if request.path == "/send":
        return Response(location="/done")
    return Response(html=FORM if request.path == "/" else "<p>Done.</p>")


SITE = Site[Asked](
    name="echo",
    start=list,
    answer=echo,
    look=lambda asked: [[each.method, each.path, dict(each.fields)] for each in asked],
)


@pytest.mark.anyio
async def test_a_form_is_sent_as_it_was_filled_in() -> None:
    async with SITE.begin() as stage:
        goto, read, click, type_text = cast("list[Any]", stage.tools)
        assert (await goto("/")).startswith("At /\nPage: Odd & ends\n# Things")
        await type_text(1, "Zoë & Co")
        await click(2)
        await click(4)
        await type_text(5, "Red")
        assert '[6] textbox "Words": "new\n' in await type_text(6, "new\nline")
        assert '[4] radio "Large": on' in await read()
        assert await click(7) == "At /done\nDone."
        assert await stage.look() == [
            ["GET", "/", {}],
            [
                "POST",
                "/send",
                {
                    "token": "t",
                    "who": "Zoë & Co",
                    "news": "on",
                    "size": "l",
                    "colour": "r",
                    "text": "new\nline",
                    "how": "fast",
                },
            ],
            ["GET", "/done", {}],
        ]


@pytest.mark.anyio
async def test_the_browser_stays_on_its_site_and_says_what_cannot_be_done() -> None:
    async with SITE.begin() as stage:
        goto, read, click, type_text = cast("list[Any]", stage.tools)
        with pytest.raises(ToolError, match="No page is open"):
            await read()
        await goto("/")
        for doing, words in (
            (lambda: click(10), "another site"),
            (lambda: goto("https://elsewhere.example/"), "another site"),
            (lambda: goto("//elsewhere.example/"), "another site"),
            (lambda: goto("file:///etc/passwd"), "another site"),
            (lambda: goto("/away"), "another site"),
            (lambda: goto("/loop"), "on and on"),
            (lambda: click(0), r"\[1\] to \[10\]"),
            (lambda: click(8), "does nothing"),
            (lambda: type_text(5, "Green"), "Red, Blue"),
            (lambda: type_text(7, "x"), "click it"),
        ):
            with pytest.raises(ToolError, match=words):
                await doing()
        assert "[status 500]" in await goto("/broken")
        assert "KeyError" in await read()


@pytest.mark.anyio
async def test_sites_at_once_have_states_of_their_own() -> None:
    async def visit(number: int) -> None:
        async with SITE.begin() as stage:
            goto = cast("list[Any]", stage.tools)[0]
            for _ in range(3):
                await goto(f"/{number}")
            assert await stage.look() == [["GET", f"/{number}", {}]] * 3

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(visit, number)


@pytest.mark.parametrize("wrong", [None, "<p>Hello", Response(html=cast("Any", 7))])
@pytest.mark.parametrize("visited", ["/", "/wrong", "/raise"])
@pytest.mark.anyio
async def test_whatever_a_model_does_on_a_site_that_fails_it_is_the_sites_failure(
    wrong: Any, visited: str, tmp_path: Path
) -> None:
    def answer(asked: Asked, request: Request) -> Any:
        if request.path == "/raise":
            raise SystemExit(request.path)
        return wrong if request.path == "/wrong" else echo(asked, request)

    site = Site[Asked](name="bad", start=list, answer=answer, look=SITE.look)
    milestone = Condition(name="sent", state={"/0/1": "/send"})
    scripts = {"oracle": (ExpectedCall(name="goto", arguments={"path": visited}),)}
    case = case_of(Task(id="a", prompt="Go.", environment=site, milestones=(milestone,), scripts=scripts))
    study = Study(suite=Suite(name="s", cases=(case,), source={}), models=("script:oracle",), folder=tmp_path)
    (trial,) = await run_study(study, lambda _: None)
    if visited == "/":
        assert (trial.verdict.kind, trial.verdict.layer) == ("fail", "model")
        return
    assert (trial.verdict.kind, trial.verdict.layer) == ("unscored", "environment")
    assert f"The site failed on GET {visited}: " in trial.verdict.reason


def test_another_site_is_another_environment() -> None:
    other = Site[Asked](name="other", start=list, answer=echo, look=SITE.look)
    assert SITE.identity != other.identity
