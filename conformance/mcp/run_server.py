"""Runs the official MCP conformance suite against a server of ours, and against a gateway in front of it, and counts.

    npm install @modelcontextprotocol/conformance@0.2.0-alpha.12
    python conformance/mcp/run_server.py node_modules/@modelcontextprotocol/conformance/dist/index.js [--gateway]

One scenario after the other: every one that the suite has for a server of the revision, extensions left out. Scored are
those that the suite requires of the revision (its `requirements` folder). Ends with 1 if one of them fails.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVER = Path(__file__).resolve().parent / "server.py"
WIELDY = "from wieldy.apps.cli.main import main; main()"
REVISIONS = ["2025-11-25", "2026-07-28"]
_LISTED = re.compile(r"^\s*- (\S+) \[([^]]*)\]$", re.MULTILINE)
_PASSED = re.compile(r"Passed: (\d+)/(\d+), (\d+) failed, (\d+) warnings")
_REQUIRED = re.compile(r"^  - (\S+)$", re.MULTILINE)


def main() -> None:
    """Runs the scenarios, prints what each of them found, and ends with 1 unless all that are scored passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("suite", type=Path, help="the suite's dist/index.js")
    parser.add_argument("--node", default="node")
    parser.add_argument("--revision", nargs="*", default=REVISIONS)
    parser.add_argument("--scenario", nargs="*", default=None, help="only these")
    parser.add_argument("--gateway", action="store_true", help="through a gateway")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    suite = [options.node, str(options.suite)]
    required = {each: scored(options.suite, each) for each in options.revision}
    with served(["-u", str(SERVER)]) as url, through(url) if options.gateway else as_is(url) as address:
        is_good = [
            run(suite, address, each, required[each], only=options.scenario, is_verbose=options.verbose)
            for each in options.revision
        ]
    sys.exit(not all(is_good))


def scored(suite: Path, revision: str) -> set[str]:
    """The scenarios that the suite requires of a server."""
    text = (suite.parent.parent / "requirements" / f"{revision}.yaml").read_text()
    return set(_REQUIRED.findall(text.partition("\nserver:\n")[2].partition("\nclient:\n")[0]))


def run(
    suite: list[str], url: str, revision: str, required: set[str], *, only: list[str] | None, is_verbose: bool
) -> bool:
    """Whether all scored scenarios of a revision pass."""
    listing = said_by([*suite, "list", "--server"])
    listed = _LISTED.findall(listing)
    if not listed:
        sys.exit(f"The suite lists no scenario; it needs Node.js 22 or later (--node): {listing.strip()[-300:]}")
    names = [name for name, revisions in listed if revision in revisions.split(",") and (only is None or name in only)]
    passed: list[str] = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            said = said_by(
                [*suite, "server", "--url", url, "--scenario", name, "--spec-version", revision, "-o", folder]
            )
        found = _PASSED.search(said)
        if found is not None and found[3] == "0" and found[1] == found[2]:
            passed.append(name)
        word = "passed" if name in passed else "FAILED"
        scores = "" if name in required else " (not scored)"
        print(f"{word}  {name}{scores}: {found[0] if found else said[-300:]}", flush=True)
        if is_verbose and (word == "FAILED" or (found is not None and found[4] != "0")):
            print(said)
    missing = required - set(names) if only is None else set[str]()
    ours = required & set(names)
    print(
        f"{revision}: {len(ours & set(passed))} of {len(ours | missing)} scored, {len(passed)} of {len(names)} in all"
    )
    return not missing and ours <= set(passed)


@contextmanager
def served(arguments: list[str]) -> Iterator[str]:
    """The address that a program of ours writes first, for as long as it runs."""
    with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@contextmanager
def as_is(url: str) -> Iterator[str]:
    """The server itself."""
    yield url


@contextmanager
def through(url: str) -> Iterator[str]:
    """A gateway in front of the server, which is its only one and keeps its names."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "gateway.json"
        server = {"url": url, "trusted": True, "pinned": False, "prefix": False}
        config.write_text(json.dumps({"mcpServers": {"conformance": server}, "journal": "calls.db"}))
        with served(["-c", WIELDY, "gateway", str(config), "--port", "0", "--json"]) as line:
            yield json.loads(line)["mcp"]


def said_by(command: list[str]) -> str:
    """What the command writes."""
    ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return ran.stdout + ran.stderr


if __name__ == "__main__":
    main()
