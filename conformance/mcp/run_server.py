"""Runs the official MCP conformance suite against a server of ours and counts.

    npm install @modelcontextprotocol/conformance@0.2.0-alpha.12
    python conformance/mcp/run_server.py node_modules/@modelcontextprotocol/conformance/dist/index.js

Only scenarios of what a server of tools has: the others need resources, prompts, completion, logging, sampling or
roots, and so do a few checks within these scenarios, which are named below. Ends with 1 if any other check fails.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SERVER = Path(__file__).resolve().parent / "server.py"
SCENARIOS = (
    "server-initialize",
    "server-session-lifecycle",
    "server-stateless",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "json-schema-2020-12",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "caching",
    "http-header-validation",
    "http-custom-header-server-validation",
)
NEED_MORE = {
    "sep-2575-server-rejects-undeclared-capability": "a tool that asks the client's model",
    "sep-2575-missing-capability-http-400": "the same",
    "sep-2549-prompts-list-caching-hints": "prompts",
    "sep-2549-resources-list-caching-hints": "resources",
    "sep-2549-resources-templates-list-caching-hints": "resources",
}
_LISTED = re.compile(r"^\s*- (\S+) \[([^]]*)\]$", re.MULTILINE)
_PASSED = re.compile(r"Passed: (\d+)/(\d+), (\d+) failed")
_FAILED = re.compile(r"\[(\S+)\s*\] \x1b\[31mFAILURE")


def main() -> None:
    """Runs the scenarios, prints what each of them found, and ends with 1 unless all passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("suite", type=Path, help="the suite's dist/index.js")
    parser.add_argument("--node", default="node")
    parser.add_argument("--revision", nargs="*", default=["2025-11-25", "2026-07-28"])
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    suite = [options.node, str(options.suite)]
    with subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        try:
            is_good = [run(suite, url, revision, is_verbose=options.verbose) for revision in options.revision]
        finally:
            server.terminate()
    sys.exit(not all(is_good))


def run(suite: list[str], url: str, revision: str, *, is_verbose: bool) -> bool:
    """Whether all scenarios of a revision pass."""
    listed = _LISTED.findall(said_by([*suite, "list", "--server"]))
    names = [name for name, revisions in listed if revision in revisions.split(",") and name in SCENARIOS]
    passed = 0
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            said = said_by(
                [*suite, "server", "--url", url, "--scenario", name, "--spec-version", revision, "-o", folder]
            )
        found = _PASSED.search(said)
        failures = _FAILED.findall(said)
        is_good = found is not None and int(found[3]) == len(failures) and set(failures) <= set(NEED_MORE)
        passed += is_good
        why = ", ".join(f"{check} (needs {NEED_MORE.get(check, 'nothing more')})" for check in failures)
        print(f"{'passed' if is_good else 'FAILED'}  {name}: {found[0] if found else said[-300:]} {why}", flush=True)
        if is_verbose and not is_good:
            print(said)
    print(f"{revision}: {passed} of {len(names)} scenarios")
    return passed == len(names)


def said_by(command: list[str]) -> str:
    """What the command writes."""
    ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return ran.stdout + ran.stderr


if __name__ == "__main__":
    main()
