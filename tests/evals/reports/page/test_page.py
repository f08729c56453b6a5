"""The report in a real browser: opened from a file, with the network watched."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path
from urllib.parse import quote

import pytest
from browser import Browser, Page
from studies import HOSTILE, faulty_study, hostile_study, long_study, nested_study

from wieldy.evals.cases.results import Trial
from wieldy.evals.reports.page import Redaction, merged, read_study_results, write_page
from wieldy.evals.reports.reporting import report_rows

LETTERS = {"pass": "P", "fail": "F", "abstain": "A", "unscored": "U", "invalid-task": "I"}


def report(folder: Path, *, redact: tuple[str, ...] = ()) -> Path:
    write_page(folder / "report.html", merged([read_study_results(folder)]), report_rows, Redaction(redact))
    return folder / "report.html"


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faulty")
    faulty_study(folder)
    return report(folder)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    hostile_study(folder)
    return report(folder)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("long")
    long_study(folder, turns=120)
    return report(folder)


def trial_address(task: str, configuration: str, trial: int, entry: str = "") -> str:
    parts = [task, configuration, str(trial), *([entry] if entry else [])]
    return "#/trial/" + "/".join(quote(part, safe="") for part in parts)


def compare_address(task: str, one: tuple[str, int], other: tuple[str, int]) -> str:
    return "#/compare/" + "/".join(quote(str(part), safe="") for part in (task, *one, *other))


def is_quiet(page: Page) -> bool:
    assert page.complaints == []
    assert page.requests == []
    return True


def fits(page: Page) -> bool:
    return page.value("document.documentElement.scrollWidth <= innerWidth")


def cells(page: Page) -> dict[tuple[str, str], str]:
    """All cells by what they link to; the list is scrolled through from its top to its end."""
    return dict(
        page.value(
            """(async () => {
              const found = new Map(), list = document.querySelector('.matrix');
              scrollTo(0, list.getBoundingClientRect().top + scrollY - 200);
              for (;;) {
                await new Promise((done) => requestAnimationFrame(done));
                for (const cell of list.querySelectorAll('a.cell')) found.set(cell.hash, cell.textContent);
                if (scrollY + innerHeight >= document.documentElement.scrollHeight - 2) return [...found];
                scrollBy(0, innerHeight / 2);
              }
            })()"""
        )
    )


def address_of(trial: Trial) -> str:
    return trial_address(trial.task, trial.configuration, trial.trial)


def test_it_opens_from_a_file_without_a_request_and_its_cells_are_the_results(browser: Browser, faulty: Path) -> None:
    with browser.page() as page:
        page.open(faulty)
        trials = read_study_results(faulty.parent).trials
        found = {href.replace("(", "%28").replace(")", "%29"): letter for href, letter in cells(page).items()}
        assert found == {address_of(trial): LETTERS[trial.verdict.kind] for trial in trials}
        (row,) = [
            row
            for row in report_rows(trials)
            if row["type"] == "configuration" and row["configuration"] == "script:faulty"
        ]
        assert f"{row['passed']} / {row['scored']}" in page.text(".results table")
        assert is_quiet(page)


def test_filters_show_the_tasks_that_fit_and_stand_in_the_address(browser: Browser, faulty: Path) -> None:
    with browser.page() as page:
        page.open(faulty, "#/?layer=provider")
        wanted = {trial.task for trial in read_study_results(faulty.parent).trials if trial.verdict.layer == "provider"}
        assert page.text(".trials .told") == f"{len(wanted)} of 27 tasks"
        page.open(faulty, "#/?verdict=abstain")
        assert page.text(".trials .told") == "1 of 27 tasks"
        page.click(".chip.v-invalid-task input")
        assert page.text(".trials .told") == "2 of 27 tasks"
        assert "verdict=abstain%2Cinvalid-task" in page.value("location.hash")
        page.open(faulty, "#/?differ=1")
        kinds = {}
        for trial in read_study_results(faulty.parent).trials:
            kinds.setdefault(trial.task, {}).setdefault(trial.configuration, []).append(trial.verdict.kind)
        differing = [task for task, own in kinds.items() if len({tuple(sorted(each)) for each in own.values()}) > 1]
        assert page.text(".trials .told") == f"{len(differing)} of 27 tasks"
        page.open(faulty)
        page.press("/")
        page.wait("document.activeElement.id === 'search'")
        for letter in "flaky":
            page.press(letter)
        assert page.text(".trials .told") == "1 of 27 tasks"
        assert is_quiet(page)


def test_a_click_opens_the_trial_with_its_verdict_and_evidence(browser: Browser, faulty: Path) -> None:
    trial = next(
        trial
        for trial in read_study_results(faulty.parent).trials
        if trial.task == "a tool stays busy" and trial.configuration == "script:faulty"
    )
    with browser.page() as page:
        page.open(faulty, "#/?q=stays+busy")
        page.click(f'a.cell[href="{address_of(trial)}"]')
        page.wait("document.title.includes('a tool stays busy')")
        assert page.text("h1") == "a tool stays busy"
        assert "whose failure: tool" in page.text(".verdict-box")
        assert trial.verdict.reason in page.text(".verdict-box")
        assert page.value("[...document.querySelectorAll('.verdict-box .entry')].map((each) => each.textContent)") == [
            f"#{entry}" for entry in trial.verdict.evidence
        ]
        page.press("e")
        page.wait("document.querySelector('.step.active')?.classList.contains('evidence')")
        call = page.text(".step.active")
        assert "flaky" in call
        assert "TransientToolError: 1 is busy" in call
        assert "policy: allowed" in call
        assert "2 attempts" in call
        page.click(".step.active .aside details:last-of-type summary")
        assert '"type": "object"' in page.value(
            "document.querySelector('.step.active .aside details:last-of-type').textContent"
        )
        assert page.count(".span.wait") == 1
        assert is_quiet(page)


def test_a_conversation_has_all_its_runs(browser: Browser, faulty: Path) -> None:
    with browser.page(height=3000) as page:
        page.open(faulty, trial_address("a conversation", "script:oracle", 1))
        assert page.count(".run-head") == 2
        assert page.value("[...document.querySelectorAll('.step.user pre')].map((each) => each.textContent)") == [
            "First.",
            "Second.",
        ]
        page.open(faulty, trial_address("a conversation", "script:oracle", 1, "1.2"))
        page.wait("document.querySelector('.step.active')")
        assert page.value("document.querySelector('.step.active .entry').getAttribute('href')").endswith("/1.2")
        assert is_quiet(page)


def test_what_a_judge_was_told_and_said_can_be_read(browser: Browser, faulty: Path) -> None:
    with browser.page() as page:
        page.open(faulty, trial_address("judged", "script:oracle", 0))
        assert "It is <i>curt</i>." in page.text(".verdict-box")
        page.click(".judges summary")
        page.wait("document.querySelectorAll('.judges .step').length > 2")
        told = page.value("document.querySelector('.judges').textContent")
        assert "It is friendly." in told
        assert '"reason": "It is <i>curt</i>."' in told
        assert page.count(".judges a.entry[href]") == 0, "entries of another run have no address here"
        assert is_quiet(page)


def test_a_run_that_a_call_started_is_told_with_the_call(browser: Browser, tmp_path: Path) -> None:
    nested_study(tmp_path)
    with browser.page(height=2000) as page:
        page.open(report(tmp_path), trial_address("nested", "script:oracle", 0))
        assert page.count(".step.call") == 1
        page.click("details.nested summary")
        page.wait("document.querySelectorAll('.nested .step').length > 3")
        told = page.value("document.querySelector('.nested .step.call').textContent")
        assert "page" in told
        assert "untrusted" in told
        assert page.count(".nested a.entry[href]") == 0, "entries of another run have no address here"
        assert is_quiet(page)


def test_a_trial_whose_journal_is_gone_still_has_its_verdict(browser: Browser, faulty: Path, tmp_path: Path) -> None:
    for name in ("results.jsonl", "study.json"):
        (tmp_path / name).write_bytes((faulty.parent / name).read_bytes())
    with browser.page() as page:
        page.open(report(tmp_path))
        assert "is not there" in page.text(".notice")
        page.open(tmp_path / "report.html", trial_address("a rule", "script:faulty", 0))
        assert "whose failure: policy" in page.text(".verdict-box")
        assert "are not in this report" in page.text(".none")
        page.open(tmp_path / "report.html", compare_address("a rule", ("script:faulty", 0), ("script:oracle", 0)))
        assert "are not in this report" in page.text(".none")
        assert is_quiet(page)


def test_the_first_divergence_is_where_the_runs_part(browser: Browser, long: Path) -> None:
    with browser.page() as page:
        page.open(long, compare_address("long", ("script:oracle", 0), ("script:odd", 0)))
        assert "agree for 121 steps" in page.text("main > .told")
        assert page.count(".divergence") == 0
        page.press("d")
        page.wait("document.querySelector('.pair.first.active')")
        top, bottom = page.value(
            "(({top, bottom}) => [top, bottom])(document.querySelector('.divergence').getBoundingClientRect())"
        )
        assert 0 <= top < bottom <= 900
        page.press("n")
        page.wait("document.querySelector('.pair.differs.active:not(.first) .call')")
        sides = page.value(
            "[...document.querySelectorAll('.pair.active .side')].map((each) => each.querySelector('pre').textContent)"
        )
        assert sides == ['{"number": 60}', '{"number": -1}']
        assert is_quiet(page)


def test_two_runs_that_agree_are_said_to(browser: Browser, faulty: Path) -> None:
    with browser.page() as page:
        page.open(faulty, compare_address("a rule", ("script:faulty", 0), ("script:faulty", 1)))
        assert "agree at every step" in page.text("main > .told")
        assert page.count(".pair.differs") == 0
        assert is_quiet(page)


def test_of_a_long_run_only_a_part_is_in_the_page_and_every_entry_can_be_reached(browser: Browser, long: Path) -> None:
    with browser.page() as page:
        page.open(long, trial_address("long", "script:oracle", 0, "0.300"))
        page.wait("document.querySelector('.step.active')")
        assert "#300" in page.value("document.querySelector('.step.active').textContent") or "300" in page.value(
            "document.querySelector('.step.active .entry').title"
        )
        assert page.value("document.querySelector('.steps > [role=listitem]').getAttribute('aria-setsize')") == "243"
        assert page.count(".steps > .step") < 60
        page.press("j")
        page.press("j")
        assert page.count(".step.active") == 1
        assert is_quiet(page)


def test_no_text_of_anybody_does_anything(browser: Browser, hostile: Path) -> None:
    with browser.page() as page:
        for address in (
            "",
            trial_address(HOSTILE, f"script:{HOSTILE}", 0),
            trial_address(HOSTILE, "script:good", 0),
            compare_address(HOSTILE, (f"script:{HOSTILE}", 0), ("script:good", 0)),
        ):
            page.open(hostile, address)
            assert page.count("main img, main script, main iframe, main object, main form") == 0
            assert page.count("main b") == page.count(
                "main .verdict > b, main .chip > b, main .verdict-box p > b, main .span b"
            )
            assert "owned" not in page.value("document.title").replace("document.title='owned'", "")
            shown = page.value("document.querySelector('main').textContent")
            assert "<img src=x onerror=" in shown
            assert not {"\x1b", "\u202e", "\u2066", "\u200b", "\U000e0041"} & set(shown)
            assert page.value("document.querySelector('main .escape').textContent") == "\\x1b"
            assert is_quiet(page)


def test_ten_million_characters_are_folded_and_said_to_be(browser: Browser, hostile: Path) -> None:
    with browser.page(height=6000) as page:
        page.open(hostile, trial_address(HOSTILE, "script:long", 0))
        page.wait("document.querySelectorAll('button.more').length >= 2")
        said = page.value("[...document.querySelectorAll('.step.reply button.more')].map((each) => each.textContent)")
        assert said == ["Show 200,000 of 9,998,500 more characters"]
        page.click(".step.reply button.more")
        page.wait("document.querySelector('.step.reply button.more').textContent.includes('9,798,500')")
        assert page.value("document.querySelector('.step.reply pre').textContent.length") == 201_500
        assert is_quiet(page)


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_is_wider_than_the_window(browser: Browser, faulty: Path, hostile: Path, width: int) -> None:
    with browser.page(width=width, height=800) as page:
        for file, address in (
            (faulty, ""),
            (faulty, trial_address("a tool stays busy", "script:faulty", 0)),
            (faulty, compare_address("a tool crashes", ("script:oracle", 0), ("script:faulty", 0))),
            (hostile, ""),
            (hostile, trial_address(HOSTILE, f"script:{HOSTILE}", 0)),
        ):
            page.open(file, address)
            page.value("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            assert fits(page), (file, address)


def brightness(page: Page, file: Path) -> float:
    """Of the page's upper left corner, from 0 to 255."""
    page.picture(file)
    content, at, packed = file.read_bytes(), 8, b""
    while at < len(content):
        (length,) = struct.unpack(">I", content[at : at + 4])
        if content[at + 4 : at + 8] == b"IDAT":
            packed += content[at + 8 : at + 8 + length]
        at += 12 + length
    return sum(zlib.decompress(packed)[1:4]) / 3


def test_it_is_dark_where_that_is_wanted_and_a_key_changes_it(browser: Browser, faulty: Path, tmp_path: Path) -> None:
    with browser.page(dark=True) as page:
        page.open(faulty)
        assert brightness(page, tmp_path / "dark.png") < 60
        page.press("t")
        assert brightness(page, tmp_path / "light.png") > 200
    with browser.page() as page:
        page.open(faulty)
        assert brightness(page, tmp_path / "light.png") > 200


CONTRASTS = """(() => {
  const pixel = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const colour = (text) => {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = text;
    pixel.fillRect(0, 0, 1, 1);
    return [...pixel.getImageData(0, 0, 1, 1).data];
  };
  const over = (top, below) => [0, 1, 2].map((at) => (top[at] * top[3] + below[at] * (255 - top[3])) / 255);
  const light = (parts) => parts
    .map((part) => part / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (node) => node
    ? over(colour(getComputedStyle(node).backgroundColor), behind(node.parentElement)) : [255, 255, 255];
  const shows = (node) => node.getClientRects().length && !(node instanceof SVGElement) &&
    [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
  const contrast = (node) => {
    const below = behind(node), text = over(colour(getComputedStyle(node).color), below);
    const [high, low] = [light(text), light(below)].sort((one, other) => other - one);
    return (high + 0.05) / (low + 0.05);
  };
  return [...document.body.querySelectorAll('*')].filter(shows)
    .map((node) => [node.outerHTML.slice(0, 100), contrast(node)]);
})()"""
"""Of every text with what is behind it, as WCAG 2.2 has it (1.4.3)."""


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_can_be_told_from_what_is_behind_it(browser: Browser, faulty: Path, dark: bool) -> None:
    with browser.page(height=3000, dark=dark) as page:
        for address in (
            "",
            trial_address("a tool stays busy", "script:faulty", 0),
            compare_address("malformed call", ("script:oracle", 0), ("script:faulty", 0)),
        ):
            page.open(faulty, address)
            contrasts = page.value(CONTRASTS)
            assert len(contrasts) > 50
            assert [found for found in contrasts if found[1] < 4.5] == []


def test_it_can_be_used_by_keys_alone(browser: Browser, faulty: Path) -> None:
    with browser.page() as page:
        page.open(faulty)
        page.value("document.getElementById('trials').scrollIntoView()")
        page.wait("document.querySelector('[data-row=\"0\"] a.cell')")
        page.value("document.querySelector('[data-row=\"0\"] a.cell').focus()")
        page.press("ArrowDown")
        page.press("ArrowRight")
        href = page.value("document.activeElement.getAttribute('href')")
        page.press("Enter")
        page.wait("location.hash !== '' && document.querySelector('.crumbs')")
        assert page.value("location.hash") == href
        first = page.value("location.hash")
        page.press("]")
        page.wait(f"location.hash !== '{first}' && document.querySelector('.steps')")
        page.press("[")
        page.wait(f"location.hash === '{first}'")
        page.press("Escape")
        page.wait("document.querySelector('.matrix')")
        page.press("?")
        assert page.value("document.getElementById('help').hidden") is False
        page.press("Escape")
        assert page.value("document.getElementById('help').hidden") is True
        page.press("j")
        page.press("j")
        page.wait("document.querySelector('.row.active')")
        page.press("Enter")
        page.wait("document.querySelector('.crumbs')")
        assert is_quiet(page)


def test_all_of_it_is_printed(browser: Browser, faulty: Path, long: Path) -> None:
    with browser.page() as page:
        page.open(faulty)
        rows = "document.querySelectorAll('[role=listitem]').length"
        counted = f"addEventListener('beforeprint', () => {{ window.printed = {rows}; }})"
        page.value(counted)
        assert page.pdf().startswith(b"%PDF")
        assert page.value("window.printed") == 27
        page.open(long, trial_address("long", "script:oracle", 0))
        page.value(counted)
        page.pdf()
        assert page.value("window.printed") == 243
        assert page.count("[role=listitem]") < 60
        assert is_quiet(page)


def test_what_was_redacted_is_said(browser: Browser, tmp_path: Path) -> None:
    faulty_study(tmp_path, trials=1)
    with browser.page() as page:
        page.open(report(tmp_path, redact=("flak.",)))
        assert "1 pattern matches was taken out" in page.text(".notice")
        page.open(report(tmp_path, redact=("no such text",)))
        assert "nothing matched" in page.text(".notice")


def test_an_address_of_nothing_shows_all_trials_and_says_so(browser: Browser, faulty: Path) -> None:
    with browser.page() as page:
        page.open(faulty, "#/trial/none/of/0")
        assert "There is no such trial" in page.text(".notice")
        assert page.count(".matrix") == 1
        assert is_quiet(page)


def test_the_example_of_the_documents_opens(browser: Browser) -> None:
    with browser.page() as page:
        page.open(Path(__file__).parents[4] / "docs" / "examples" / "report.html")
        assert len(cells(page)) == 22
        page.open(Path(__file__).parents[4] / "docs" / "examples" / "report.html", "#/trial/out-of-reach/local/0")
        assert "extra-call" in page.text(".verdict-box")
        assert is_quiet(page)


def test_a_damaged_file_says_so(browser: Browser, faulty: Path, tmp_path: Path) -> None:
    text = faulty.read_text()
    start = text.index('id="index">') + len('id="index">')
    damaged = base64.b64encode(base64.b64decode(text[start : text.index("<", start)])[:-200]).decode()
    file = tmp_path / "report.html"
    file.write_text(text[:start] + damaged + text[text.index("<", start) :])
    with browser.page() as page:
        page.open(file)
        assert "may be damaged" in page.text(".notice")
