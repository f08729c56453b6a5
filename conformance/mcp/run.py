"""Runs the official MCP conformance suite against our client, one scenario after the other, and counts.

    npm install @modelcontextprotocol/conformance@0.2.0-alpha.12
    python conformance/mcp/run.py node_modules/@modelcontextprotocol/conformance/dist/index.js [--revision 2026-07-28]

The suite itself runs all of a revision at once, on a machine with few cores so many that they run into its time limits;
what it judges by is its own either way. Ends with 1 if a scenario of the revision fails. Extensions are left out.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CLIENT = Path(__file__).resolve().parent / "client.py"
_LISTED = re.compile(r"^\s*- (\S+) \[([^]]*)\]$", re.MULTILINE)
_PASSED = re.compile(r"Passed: (\d+)/(\d+), (\d+) failed")


def main() -> None:
    """Runs the scenarios, prints what each of them found, and ends with 1 unless all passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("suite", type=Path, help="the suite's dist/index.js")
    parser.add_argument("--node", default="node")
    parser.add_argument("--revision", default="2026-07-28")
    options = parser.parse_args()
    suite = [options.node, str(options.suite)]
    listed = _run([*suite, "list", "--client"])
    names = [name for name, revisions in _LISTED.findall(listed) if options.revision in revisions.split(",")]
    passed = 0
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            command = f"{sys.executable} {CLIENT}"
            what = ["--command", command, "--scenario", name, "--spec-version", options.revision]
            said = _run([*suite, "client", *what, "--timeout", "60000", "-o", folder])
        found = _PASSED.search(said)
        is_good = found is not None and found[3] == "0" and found[1] == found[2]
        passed += is_good
        print(f"{'passed' if is_good else 'FAILED'}  {name}: {found[0] if found else said[-300:]}", flush=True)
    print(f"{options.revision}: {passed} of {len(names)} scenarios")
    sys.exit(passed != len(names))


def _run(command: list[str]) -> str:
    ran = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return ran.stdout + ran.stderr


if __name__ == "__main__":
    main()
