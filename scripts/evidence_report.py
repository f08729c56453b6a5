"""How large a report is, and how fast it is shown: real studies of scripted models, opened in a real browser.

    python scripts/evidence_report.py [bfcl WHEEL]

All times are CPU time: of this process for writing, of the page's thread (script, layout, drawing) for showing. A step
is one of 100 scrolls, each drawn before the next: by 150 pixels, as a wheel does, or by a hundredth of the list, as a
scroll bar does.
"""

from __future__ import annotations

import base64
import gzip
import re
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import anyio

TESTS = Path(__file__).parents[1] / "tests" / "evals"
sys.path[:0] = [str(TESTS), str(TESTS / "reports" / "page"), str(Path(__file__).parent)]

from browser import Browser, Page  # noqa: E402
from fault_cases import CASES, After, note  # noqa: E402
from services import browser_program, why_no_browser  # noqa: E402
from studies import case, faulty_study, long_study, run_of, suite  # noqa: E402

from wieldy.evals.bfcl.categories import categories_named  # noqa: E402
from wieldy.evals.bfcl.suite import bfcl_suite  # noqa: E402
from wieldy.evals.reports.page import Redaction, merged, read_study_results, write_page  # noqa: E402
from wieldy.evals.reports.page.writing import shell  # noqa: E402
from wieldy.evals.reports.reporting import report_rows  # noqa: E402
from wieldy.evals.studies.running import Study, run_study  # noqa: E402
from wieldy.testing import ScriptedModel, text  # noqa: E402

DATA = re.compile(r'<script type="application/gzip" id="[\w-]+">([A-Za-z0-9+/=]*)</script>')
SCROLLED = """(async (pixels) => {
  const box = document.querySelector('.long').getBoundingClientRect(), from = box.top + scrollY;
  for (let step = 1; step <= 100; step += 1) {
    scrollTo(0, pixels ? from + box.height / 2 + pixels * step : from + box.height * step / 100);
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
  }
})"""


def wide_study(folder: Path, *, tasks: int) -> None:
    """So many tasks, each with three configurations: right, faulty in one of all ways, and faulty now and then."""
    faults = list(CASES.items())
    cases = []
    for at in range(tasks):
        name, fault = faults[at % len(faults)]
        good = partial(ScriptedModel, [[text(f"It is {at}.")]])
        scripts = {
            "oracle": partial(_after, good),
            "faulty": partial(_after, fault.model),
            "mixed": partial(_after, fault.model if at % 3 else good),
        }
        cases.append(
            case(f"{name} {at}", scripts, tools=(note, *fault.tools), category=fault.layer, options=fault.options)
        )
    run_of(Study(suite=suite("wide", cases), models=tuple(f"script:{name}" for name in scripts), folder=folder, jobs=8))


def _after(model: Any) -> After:
    return After(1, model())


def bfcl_study(folder: Path, wheel: Path) -> None:
    """All tasks of one reply, answered from their answers."""
    tasks = bfcl_suite(wheel, categories_named(["single_turn"]))
    anyio.run(run_study, Study(suite=tasks, models=("script:oracle",), folder=folder, jobs=8), lambda _: None)


def measure(browser: Browser, name: str, folder: Path, addresses: dict[str, str]) -> None:
    """One row of the table of sizes, and one for each address."""
    file = folder / "report.html"
    began = time.process_time()
    write_page(file, merged([read_study_results(folder)]), report_rows, Redaction())
    wrote_s = time.process_time() - began
    raw = sum(len(gzip.decompress(base64.b64decode(packed))) for packed in DATA.findall(file.read_text()))
    journal = (folder / "runs.db").stat().st_size
    print(
        f"{name}: file {file.stat().st_size:,} bytes, its data unpacked {raw:,}, journal {journal:,}; {wrote_s:.1f} s"
    )
    for what, address in addresses.items():
        with browser.page() as page:
            page.send("Performance.enable", timeDomain="threadTicks")
            page.open(file, address)
            page.wait("document.querySelector('.long > [role=listitem]')")
            told = [f"shown after {_busy_s(page):.2f} s, {page.count('*')} nodes"]
            for way, pixels in (("rolling", 150), ("jumping", 0)):
                before = _busy_s(page)
                page.value(f"{SCROLLED}({pixels})")
                told.append(f"a step of {way} {10 * (_busy_s(page) - before):.1f} ms")
            print(f"  {what}: {'; '.join(told)}", flush=True)
            assert not page.complaints, page.complaints


def _busy_s(page: Page) -> float:
    metrics = {each["name"]: each["value"] for each in page.send("Performance.getMetrics")["metrics"]}
    return metrics["TaskDuration"]


def main(arguments: list[str]) -> None:
    """All of it is measured and printed."""
    program = browser_program()
    if program is None or why_no_browser() is not None:
        sys.exit(why_no_browser())
    print(f"the page without data: {len(''.join(shell()).encode()):,} bytes")
    browser = Browser(program)
    try:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            if arguments:
                bfcl_study(folder / "bfcl", Path(arguments[1]))
                measure(browser, "BFCL, 1 configuration", folder / "bfcl", {"all trials": ""})
                return
            faulty_study(folder / "faulty")
            measure(browser, "27 tasks x 2 x 2", folder / "faulty", {"all trials": ""})
            wide_study(folder / "wide", tasks=4000)
            measure(browser, "4,000 tasks x 3", folder / "wide", {"all trials": ""})
            long_study(folder / "long", turns=2500)
            one, both = "#/trial/long/script%3Aoracle/0", "#/compare/long/script%3Aoracle/0/script%3Aodd/0"
            measure(browser, "2 runs of 10,004 entries", folder / "long", {"one run": one, "side by side": both})
    finally:
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
