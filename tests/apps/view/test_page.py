"""`wieldy view` as a process, and its page in a real browser: what is shown, what is live, what a click decides."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from view_journals import DAMAGED, HOSTILE

from wieldy.core.ports import Draft
from wieldy.run.journal import SqliteJournal, kinds

Made = tuple[Path, dict[str, str]]
Result = subprocess.CompletedProcess[str]


def go(page: Any, *parts: str) -> None:
    address = "'#/' + [" + ", ".join(map(repr, parts)) + "].map(encodeURIComponent).join('/')"
    page.value(f"(() => {{ location.hash = {address}; }})()")


def test_the_page_shows_a_journal_as_it_grows_and_decides_what_it_shows(
    browser: Any, journal: Made, served: tuple[Any, str]
) -> None:
    file, made = journal
    url = served[1]
    base = url.partition("?")[0]
    with browser.page(width=1000) as page, SqliteJournal(file) as writing:
        page.send("Page.navigate", url=url)
        page.send("Page.navigate", url=base)
        page.wait("document.querySelectorAll('tr[data-run]').length >= 8")
        assert page.value("document.title") == "(1) Runs"
        assert HOSTILE.split()[0] in page.text(".request pre")
        assert page.count("main script, main img, main b b") == 0
        assert page.value("document.documentElement.scrollWidth <= innerWidth")

        go(page, "run", made["outer"], "4")
        page.wait("document.querySelector('.step.active')")
        assert "assist" in page.text(".step.active")
        assert "8 entries, none was changed" in page.text("#check")
        page.click(".step.active button.raw")
        page.wait("document.querySelectorAll('.raw-entry').length === 3")

        go(page, "run", DAMAGED)
        page.wait("document.querySelectorAll('.step').length === 2")
        assert "unheard_of" in page.text(".steps")
        go(page, "compare", made["plain"], made["failing"])
        page.wait("document.querySelector('.pair.first')")

        message = {"role": "user", "parts": [{"type": "text", "text": "Go on and on."}]}
        lease = writing.lease("live")
        writing.append(
            "live",
            Draft(kinds.RUN_STARTED, {"model": "m", "messages": [message], "tools": [], "limits": {}}),
            Draft(kinds.TURN_STARTED, {"turn": 1, "tool_choice": "auto", "max_output_tokens": None}),
        )
        go(page, "run", "live")
        page.wait("document.querySelector('p.live')?.innerText.includes('running')")
        said = {"role": "assistant", "parts": [{"type": "text", "text": "Said later."}]}
        reply = {"turn": 1, "message": said, "usage": {"input_tokens": 1, "output_tokens": 1}, "finish": "stop"}
        writing.append("live", Draft(kinds.REPLY, reply), Draft(kinds.RUN_FINISHED, {"stop_reason": "answered"}))
        page.wait("document.querySelector('.steps').innerText.includes('Said later.')")
        page.wait("document.querySelector('.of-trial').innerText.includes('finished')")
        lease.release()

        go(page, "run", made["waiting"])
        page.wait("document.querySelector('button.approve')")
        page.click("button.approve")
        page.wait("document.querySelector('.decided')")
        page.wait("!document.querySelector('.request')")
        last = writing.read(made["waiting"])[-1]
        assert (last.kind, last.data["is_granted"], last.data["by"]) == (kinds.APPROVAL, True, "anna")
        assert page.value("document.title") == "Refund order 17, please. – run"
        assert page.complaints == []
        assert all(asked.startswith(base) for asked in page.requests), page.requests


def test_the_command_ends_when_it_is_asked_to_and_has_written_no_key(served: tuple[Any, str]) -> None:
    process, url = served
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")
    assert url.partition("key=")[2]


def test_what_cannot_be_meant_is_said(wieldy: Callable[..., Result], tmp_path: Path) -> None:
    for arguments, words in (
        (("--redact", "x", "--allow-decisions"), "exclude one another"),
        (("--by", "anna"), "--allow-decisions"),
        (("--redact", "("), "regular expression"),
        (("--journal", tmp_path / "none.db"), "there is no journal here"),
        (("--port", "99999999"), "65535"),
    ):
        result = wieldy("view", *arguments)
        assert result.returncode == 2, arguments
        assert words in " ".join(result.stderr.split()), arguments
