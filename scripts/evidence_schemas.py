"""What masks of JSON Schemas hold a model to, measured: on keywords, the official test suite, and public schemas.

    python scripts/evidence_schemas.py keywords [WALKS]    random walks under every keyword, real vocabularies
    python scripts/evidence_schemas.py suite FOLDER        the JSON Schema Test Suite (from the sdist of `jsonschema`)
    python scripts/evidence_schemas.py public FOLDER [N]   SchemaStore, tools' schemas, BFCL's functions; every Nth

`make evidence ARGS=constraint` fetches what is needed into a folder of its own and runs all three. The engine alone is
measured beside Wieldy: strictly, where it refuses what it does not know, and `lenient`, where it ignores it.
"""

from __future__ import annotations

import copy
import itertools
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "grammar"), str(ROOT / "tests" / "grammar" / "check"), str(ROOT / "scripts")]

# The modules that tests and scripts share are found by the path above; there are no packages in tests.
# ruff: noqa: E402
import fetch_tokenizers
import jsonschema_rs
import llguidance
import public_schemas
from keyword_cases import CASES
from test_keyword_table import Judge, value_of

from wieldy.core.errors import GrammarError
from wieldy.grammar import Tokenizer
from wieldy.grammar.check.masked import masked_part
from wieldy.grammar.check.walks import Walker
from wieldy.grammar.compiled import compiled
from wieldy.grammar.lowering import Lowered, lowered
from wieldy.grammar.shape import Json, Rules


def keywords(walks: int) -> None:
    """Every case of the keyword table, walked under with real vocabularies."""
    print("| vocabulary | cases | walks | did not end | no JSON | do not fit, unsaid | CPU s |")
    print("|---|---|---|---|---|---|---|")
    for name in ("qwen3", "llama3"):
        text = fetch_tokenizers.fetch(name).read_text(encoding="utf-8")
        tokenizer = Tokenizer.of_json(text, end_token=fetch_tokenizers.VOCABULARIES[name].end_tokens)
        counts, started = Counter[str](), time.process_time()
        for case in CASES:
            grammar = compiled(Rules(start=Json(case.schema)))
            judge = Judge(masked_part(case.schema, grammar.enforcement))
            walker = Walker(tokenizer, seed=len(case.title))
            for _ in range(walks):
                counts[_verdict(walker.walk(grammar), judge)] += 1
        took = time.process_time() - started
        cells = [name, len(CASES), counts.total(), counts["no end"], counts["no json"], counts["silent"], f"{took:.0f}"]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def _verdict(text: bytes | None, judge: Judge) -> str:
    if text is None:
        return "no end"
    try:
        value = value_of(text.decode())
    except ValueError:
        return "no json"
    return "fits" if judge.is_valid(value) else "silent"


# Masks to compare


@dataclass
class Mask:
    """One way to make a mask of a schema: its text for the engine, or None if it refuses."""

    name: str
    text: Callable[[dict[str, Any]], str | None]
    counts: Counter[str] = field(default_factory=Counter[str])


def _own(schema: dict[str, Any]) -> str | None:
    try:
        return compiled(Rules(start=Json(schema))).lark
    except GrammarError:
        return None


def _engine(*, is_lenient: bool) -> Callable[[dict[str, Any]], str | None]:
    def text(schema: dict[str, Any]) -> str | None:
        found = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides={"lenient": is_lenient})
        is_error, _ = llguidance.LLMatcher.validate_grammar_with_warnings(found)
        return None if is_error else found

    return text


def masks() -> list[Mask]:
    """Wieldy, and the engine alone in both ways."""
    strict, lenient = _engine(is_lenient=False), _engine(is_lenient=True)
    return [Mask("Wieldy", _own), Mask("llguidance, strict", strict), Mask("llguidance, lenient", lenient)]


BYTES = Tokenizer.of_bytes()


def accepts(text: str, value: Any) -> bool:
    """Whether the mask lets the value through as `json.dumps` writes it."""
    matcher = llguidance.LLMatcher(BYTES.engine, text, log_level=0)
    tokens = list(json.dumps(value, ensure_ascii=False).encode())
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


def reported(schema: dict[str, Any]) -> Lowered:
    """The schema as the engine has it, with the report on that; as it is lowered where the engine refuses it."""
    try:
        grammar = compiled(Rules(start=Json(schema)))
    except GrammarError:
        return lowered(schema)
    (found,) = grammar.lowered.values()
    return Lowered(schema=found, enforcement=grammar.enforcement)


def accepts_in_order(text: str, orders: list[dict[str, int]], value: Any) -> bool:
    """Whether the mask lets the value through, its members in one of the orders: all masks ask for one."""
    return accepts(text, value) or any(accepts(text, _in_order(value, ranks)) for ranks in orders)


def compare(schemas: Iterator[tuple[dict[str, Any], list[Any], list[Any]]]) -> None:
    """A table of what each mask makes of the schemas and of their values, valid and invalid."""
    compared, entries = masks(), Counter[str]()
    total = Counter[str]()
    for schema, valid, invalid in schemas:
        total.update({"schemas": 1, "valid": len(valid), "invalid": len(invalid)})
        report = reported(schema)
        entries.update(entry.by for entry in report.enforcement if not report.refused)
        orders = [_ranks(schema), _ranks(report.schema)]
        is_all = all(entry.by == "mask" for entry in report.enforcement)
        for mask in compared:
            text = mask.text(schema)
            if text is None:
                continue
            mask.counts["compiled"] += 1
            mask.counts["valid"] += len(valid)
            mask.counts["accepted"] += sum(map(partial(accepts_in_order, text, orders), valid))
            let_through = sum(map(partial(accepts_in_order, text, orders), invalid))
            mask.counts["invalid"] += len(invalid)
            mask.counts["let through"] += let_through
            if mask is compared[0] and is_all:
                mask.counts["unsaid"] += let_through
    print(f"{total['schemas']} schemas, {total['valid']} valid and {total['invalid']} invalid values.\n")
    print("| mask | compiled | of those: valid accepted | invalid let through | said by no report |")
    print("|---|---|---|---|---|")
    for mask in compared:
        counts = mask.counts
        unsaid = counts["unsaid"] if mask is compared[0] else counts["let through"]
        cells = [
            mask.name,
            _share(counts["compiled"], total["schemas"]),
            _share(counts["accepted"], counts["valid"]),
            f"{counts['let through']} of {counts['invalid']}",
            str(unsaid),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
    shares = ", ".join(f"{_share(entries[by], entries.total())} by the {by}" for by in ("mask", "validator"))
    print(f"\nOf {entries.total()} keywords in the schemas that Wieldy compiles: {shares}.", flush=True)


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "-"


# The official suite


def suite(folder: Path) -> None:
    """The JSON Schema Test Suite, draft 2020-12, with formats."""
    compare(_suite_cases(folder))


def _suite_cases(folder: Path) -> Iterator[tuple[dict[str, Any], list[Any], list[Any]]]:
    for path in sorted([*folder.glob("*.json"), *folder.glob("optional/format/*.json")]):
        for case in json.loads(path.read_text(encoding="utf-8")):
            schema = {"allOf": [case["schema"]]} if isinstance(case["schema"], bool) else case["schema"]
            tests = case["tests"]
            is_annotation = path.name == "format.json"  # says that formats need not be checked; here they are
            valid = [] if is_annotation else [test["data"] for test in tests if test["valid"]]
            yield schema, valid, [test["data"] for test in tests if not test["valid"]]


# Public schemas


def public(folder: Path, *, every: int) -> None:
    """The schemas that packages ship, or some, with values made from them and spoiled, judged by jsonschema-rs."""
    for title, found in (
        ("SchemaStore", public_schemas.schemastore(folder)),
        ("check-jsonschema", public_schemas.check_jsonschema(folder)),
        ("Functions of BFCL", public_schemas.distinct(schema for _, schema in public_schemas.functions(folder))),
    ):
        print(f"\n### {title}\n", flush=True)
        compare(_with_values(itertools.islice(found, 0, None, every)))


def _with_values(schemas: Iterator[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], list[Any], list[Any]]]:
    from wieldy.core.errors import UsageError  # noqa: PLC0415
    from wieldy.schema import CompiledSchema, example  # noqa: PLC0415

    for number, schema in enumerate(schemas):
        try:
            judge = jsonschema_rs.Draft202012Validator(schema, validate_formats=True, offline=True)
            made = [example(CompiledSchema(schema), include=names) for names in ((), _names(schema))]
        except (ValueError, jsonschema_rs.ReferencingError, UsageError, RecursionError):
            yield schema, [], []
            continue
        values = {json.dumps(value): value for one in made for value in _spoiled(one, random.Random(number))}
        fitting = {text: judge.is_valid(value) for text, value in values.items()}
        yield (
            schema,
            [values[text] for text, fits in fitting.items() if fits],
            [values[text] for text, fits in fitting.items() if not fits],
        )


def _names(schema: dict[str, Any]) -> list[str]:
    properties = schema.get("properties")
    return list(properties) if isinstance(properties, dict) else []


def _ranks(schema: Any) -> dict[str, int]:
    """The names of members in the order in which the schema has them."""
    ranks: dict[str, int] = {}
    waiting = [schema]
    while waiting:
        part = waiting.pop(0)
        if isinstance(part, dict):
            named = part.get("properties")
            for name in named if isinstance(named, dict) else ():
                ranks.setdefault(name, len(ranks))
        waiting += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return ranks


def _in_order(value: Any, ranks: dict[str, int]) -> Any:
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: ranks.get(name, len(ranks)))
        return {name: _in_order(value[name], ranks) for name in names}
    return [_in_order(inner, ranks) for inner in value] if isinstance(value, list) else value


_OTHERS: list[Any] = [None, True, 0, -1, 1.5, "", "text", [], {}, [1], {"a": 1}]


def _spoiled(value: Any, chance: random.Random) -> Iterator[Any]:
    """The value, and the value with one place changed."""
    yield value
    for place in _places(value, ())[:40]:
        other = copy.deepcopy(value)
        *way, last = place
        inner = other
        for step in way:
            inner = inner[step]
        if isinstance(inner, dict) and chance.random() < 0.3:
            del inner[last]
        elif isinstance(inner[last], dict) and chance.random() < 0.5:
            inner[last]["unknown_member"] = chance.choice(_OTHERS)
        else:
            inner[last] = chance.choice(_OTHERS)
        yield other
    yield from chance.sample(_OTHERS, 2)


def _places(value: Any, place: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, inner in items for found in ((*place, key), *_places(inner, (*place, key)))]


def main(arguments: list[str]) -> None:
    match arguments:
        case ["keywords", *walks]:
            keywords(int(walks[0]) if walks else 100)
        case ["suite", folder]:
            suite(Path(folder))
        case ["public", folder, *every]:
            public(Path(folder), every=int(every[0]) if every else 1)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
