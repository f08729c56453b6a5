"""What a constraint over tools costs: to make it, and per token; beside its engine alone and beside xgrammar.

    python benchmarks/constraint.py [--peers] [--vocabulary NAME] [--json]

The vocabulary (151,669 tokens of Qwen 3 unless another is named) is fetched by `scripts/fetch_tokenizers.py`. Wieldy's
tool constraint and llguidance driven directly, with the same tools as one union, take turns in one process; xgrammar
has a process of its own. With `--peers` its newest version is installed into an environment of its own
(`.benchmarks/masks`: about 6 GB, with torch and transformers); without it, it is measured if that environment is there.
All times are CPU time. *new*: the tools were never seen; *known*: their schemas were, under other names; both up to and
with the first mask. Ratios are those of the medians to the engine alone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEERS = ROOT / ".benchmarks" / "masks"
PEERS_PYTHON = PEERS / "bin" / "python"
PEER_PACKAGES = ("xgrammar", "transformers", "torch")
PEER_BYTES = 12_000_000_000
"""While it is installed, its archives lie beside it."""
OURS, ENGINE, PEER = "wieldy_constraint", "engine_alone", "xgrammar_peer"
MOST_OVER_ENGINE, MOST_GUARD_US = 1.10, 2000

Found = dict[str, Any]


def main() -> None:
    options = _options()
    path = vocabulary(options.vocabulary)
    if options.peers:
        install_peers()
    found = measure(sys.executable, path, [ENGINE, OURS])
    if PEERS_PYTHON.exists():
        found |= measure(str(PEERS_PYTHON), path, [PEER])
    else:
        print("xgrammar: left out; `--peers` installs it (about 6 GB).", file=sys.stderr)
    if options.json:
        print(json.dumps(found))
    else:
        print_all(found)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What a constraint over tools costs, beside others.")
    parser.add_argument("--peers", action="store_true", help="install the newest xgrammar first (about 6 GB)")
    parser.add_argument("--vocabulary", default="qwen3", metavar="NAME", help="which vocabulary (qwen3)")
    parser.add_argument("--json", action="store_true", help="everything that was found, as one JSON object")
    return parser.parse_args()


def vocabulary(name: str) -> Path:
    """The vocabulary's `tokenizer.json`, fetched if it is not there."""
    sys.path.insert(0, str(ROOT / "scripts"))
    import fetch_tokenizers

    try:
        return fetch_tokenizers.fetch(name)
    except (OSError, KeyError) as error:
        raise SystemExit(f"The vocabulary {name} cannot be had, and nothing is measured: {error}.") from None


def install_peers() -> None:
    """The newest xgrammar is in its environment, or it was said why not."""
    free = shutil.disk_usage(ROOT).free
    if not PEERS_PYTHON.exists() and free < PEER_BYTES:
        print(
            f"xgrammar: left out; it needs {PEER_BYTES / 1e9:.0f} GB, and {free / 1e9:.1f} GB are free.",
            file=sys.stderr,
        )
        return
    if not PEERS_PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
    pip = [str(PEERS_PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]
    ran = subprocess.run([*pip, "install", "--upgrade", *PEER_PACKAGES], check=False, stdin=subprocess.DEVNULL)
    if ran.returncode:
        print("xgrammar: left out; pip could not install it.", file=sys.stderr)
        shutil.rmtree(PEERS, ignore_errors=True)


def measure(python: str, path: Path, subjects: list[str]) -> dict[str, Found]:
    """What the subjects cost, measured in one process."""
    print(f"{', '.join(subjects)} ...", file=sys.stderr, flush=True)
    # Nothing of one environment may be seen in another.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    finished = subprocess.run(
        [python, "-m", "masks.measuring", str(path), *subjects],
        cwd=HERE,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(finished.stdout)


def print_all(found: dict[str, Found]) -> None:
    names = [name for name in (OURS, ENGINE, PEER) if name in found]
    print(f"{'':<28}" + "".join(f"{name + ' ' + found[name]['version']:>30}" for name in names))
    for what, unit, label in (
        ("compile_ms", "ms", "new tools"),
        ("known_ms", "ms", "known tools"),
        ("mask_us", "µs", "a mask"),
    ):
        for count in found[OURS][what]:
            cells = [_cell(found[name][what][count], found[ENGINE][what][count]) for name in names]
            print(f"{f'{count} tools: {label}, {unit}':<28}" + "".join(f"{cell:>30}" for cell in cells))
    guard = found[OURS]["guard_us"]
    print(f"\nA step with a guard, µs: wide budget {_two(guard['wide'])}, as tight as can be {_two(guard['tight'])}\n")
    for what, most in _goals(found):
        print(f"{'kept  ' if what[1] <= most else 'MISSED'} {what[0]:<58}{what[1]:>10.2f} (at most {most:g})")


def _goals(found: dict[str, Found]) -> list[tuple[tuple[str, float], float]]:
    goals: list[tuple[tuple[str, float], float]] = []
    for what, label in (
        ("mask_us", "a mask"),
        ("known_ms", "making it, known tools"),
        ("compile_ms", "making it, new tools"),
    ):
        ratios = [
            found[OURS][what][count]["median"] / found[ENGINE][what][count]["median"] for count in found[OURS][what]
        ]
        goals.append(((f"{label}, to the engine alone, worst of the counts", max(ratios)), MOST_OVER_ENGINE))
    worst = max(times["median"] for times in found[OURS]["guard_us"].values())
    return [*goals, (("a step with a guard, median, µs", worst), MOST_GUARD_US)]


def _cell(times: dict[str, float], yardstick: dict[str, float]) -> str:
    return f"{_two(times)} ({times['median'] / yardstick['median']:.2f}x)"


def _two(times: dict[str, float]) -> str:
    return f"{times['median']:,.1f}, p99 {times['p99']:,.1f}"


if __name__ == "__main__":
    main()
