"""The page as a browser gets it: the parts of the report's page that show a run, and those of `shell/`.

Its policy names its own script and style by their digests, allows requests to where it came from and to nowhere else,
and lets no script make markup of text. Source: Content Security Policy Level 3; Trusted Types.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from wieldy.evals.reports.page.assembling import STYLE, assembled, part

REPORTS: Final = ("text", "keys", "list", "call", "timeline", "pairs")
"""The parts of the script that the page of a report has as well."""
OWN: Final = ("asking", "waiting", "runs", "run", "start")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The page, and the policy that it is sent with."""

    html: str
    policy: str


@cache
def page() -> Shown:
    """The page. It holds nothing of any journal."""
    scripts = (*(part(f"{name}.js") for name in REPORTS), *(_own(f"{name}.js") for name in OWN))
    made = assembled(_own("page.html"), style=part(STYLE) + _own("view.css"), scripts=scripts)
    policy = (
        f"default-src 'none'; script-src {made.script_source}; style-src {made.style_source}; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    )
    return Shown(html=made.html, policy=policy)


def _own(name: str) -> str:
    return (files("wieldy.apps.view") / "shell" / name).read_text(encoding="utf-8")
