"""The local model: its runtime, its weights, and where they could come from."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import httpx2

from wieldy.apps.cli.checks.machine import check_disk, why_not_writable
from wieldy.apps.cli.checks.records import Check, State, megabytes
from wieldy.connect.models.weights import EMBEDDED, default_cache_folder, find
from wieldy.connect.models.weights_checks import is_marked
from wieldy.connect.models.weights_packages import room_needed
from wieldy.core.extras import installing
from wieldy.core.json import JsonObject

RUNTIME_PACKAGES = ("xllamacpp", "llguidance", "huggingface_hub")
OTHER_MODELS = "another model: `local:PATH.gguf`, `openai:NAME`, `anthropic:NAME`, `http://HOST:PORT/v1#NAME`"
HUB = "https://huggingface.co"
PATIENCE_S = 5.0


def check_runtime() -> Check:
    """Whether the packages that run a local model are installed and can be loaded."""
    versions: JsonObject = {package: _version(package) for package in RUNTIME_PACKAGES}
    missing = [package for package, found in versions.items() if found is None]
    if missing:
        return Check(
            name="Local runtime",
            state="lacking",
            found=f"not installed: {', '.join(missing)}",
            details={**versions},
            advice=f"Install it: {installing('local')}",
        )
    broken = {package: reason for package in RUNTIME_PACKAGES if (reason := _why_not_loadable(package)) is not None}
    found = ", ".join(f"{package} {found}" for package, found in versions.items())
    if not broken:
        return Check(name="Local runtime", state="good", found=found, details={**versions})
    reasons = "; ".join(f"{package} cannot be loaded: {reason}" for package, reason in broken.items())
    return Check(
        name="Local runtime",
        state="lacking",
        found=f"{found}; {reasons}",
        details={**versions, "not_loadable": {**broken}},
        advice=f"Install it anew: {installing('local', options='--force-reinstall --no-cache-dir')}",
    )


def check_embedded_model() -> Iterator[Check]:
    """Whether the embedded model is here or can be had, with the disk and the hub that this takes."""
    folder = default_cache_folder()
    file = find(EMBEDDED)
    hub = check_hub()
    if file is not None:
        yield _present(file, folder)
        yield check_disk(folder, needed_bytes=0)
    elif (reason := why_not_writable(folder)) is not None:
        yield _not_storable(folder, reason)
        yield check_disk(folder, needed_bytes=room_needed(EMBEDDED))
    else:
        yield _absent(folder / EMBEDDED.file_name, obtainable=hub.state == "good" or _index_has_it())
        yield check_disk(folder, needed_bytes=room_needed(EMBEDDED))
    yield hub


def check_hub() -> Check:
    """Whether the model hub answers; nothing needs it once the model is here."""
    endpoint = os.environ.get("HF_ENDPOINT") or HUB
    reason = _why_unreachable(endpoint)
    details: JsonObject = {"endpoint": endpoint, "reachable": reason is None}
    if reason is None:
        return Check(name="Model hub", state="good", found=f"{endpoint} answers", details=details)
    return Check(
        name="Model hub",
        state="note",
        found=f"{endpoint} cannot be used: {reason}",
        details=details,
        advice="Only fetching the embedded model needs it, and then the package index is the second source.",
    )


def _present(file: Path, folder: Path) -> Check:
    verified = is_marked(folder / f"{EMBEDDED.file_name}.checked", path=file, sha256=EMBEDDED.sha256)
    words = "checksum verified" if verified else "the checksum is verified at the first use"
    return Check(
        name="Embedded model",
        state="good",
        found=f"{EMBEDDED.name}, {megabytes(EMBEDDED.size_bytes)}, {words}, at {file}",
        details={"path": str(file), "size_bytes": EMBEDDED.size_bytes, "present": True, "verified": verified},
    )


def _absent(target: Path, *, obtainable: bool) -> Check:
    in_the_way = target.exists() or target.is_symlink()
    if in_the_way:
        advice = f"Move {target} away: it is not the embedded model, whose size is {EMBEDDED.size_bytes} bytes."
    elif obtainable:
        advice = "Nothing to do: the first run fetches it once."
    else:
        advice = (
            f"See to the connection, or put the file at {target} yourself (sha256 {EMBEDDED.sha256}), or use "
            f"{OTHER_MODELS}."
        )
    return _missing(target, words="", advice=advice, state="note" if obtainable and not in_the_way else "lacking")


def _not_storable(folder: Path, reason: str) -> Check:
    advice = (
        f"Make {folder} a folder that you can write, or name another place for your user's caches (on Linux in "
        f"XDG_CACHE_HOME), or use {OTHER_MODELS}."
    )
    return _missing(folder / EMBEDDED.file_name, words=f", {reason}", advice=advice, state="lacking")


def _missing(target: Path, *, words: str, advice: str, state: State) -> Check:
    return Check(
        name="Embedded model",
        state=state,
        found=f"{EMBEDDED.name}, {megabytes(EMBEDDED.size_bytes)}, is not here; its place is {target}{words}",
        details={"path": str(target), "size_bytes": EMBEDDED.size_bytes, "present": False, "verified": False},
        advice=advice,
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _why_not_loadable(package: str) -> str | None:
    # In a process of its own: a library built for another processor would end this one.
    loaded = _python("-c", f"import {package}")
    if loaded is None:
        return f"no end after {_LOADING_S:.0f} s"
    if loaded.returncode == 0:
        return None
    lines = loaded.stderr.strip().splitlines()
    return lines[-1] if lines else f"it ends Python with code {loaded.returncode}"


def _why_unreachable(endpoint: str) -> str | None:
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return "HF_HUB_OFFLINE is set"
    try:
        httpx2.head(endpoint, timeout=PATIENCE_S)
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        return str(error) or type(error).__name__
    return None


def _index_has_it() -> bool:
    # pip decides which index that is; asking for one of the parts tells whether it can be reached and has them.
    first = EMBEDDED.parts[0]
    options = ("--retries", "0", "--timeout", f"{PATIENCE_S:.0f}", "--disable-pip-version-check")
    answer = _python("-m", "pip", "index", "versions", first.package, *options)
    return answer is not None and answer.returncode == 0 and first.version in answer.stdout


_LOADING_S = 30


def _python(*arguments: str) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            [sys.executable, "-P", *arguments],  # -P: no module of the folder in which the user happens to be
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_LOADING_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
