"""What a budget does to output, measured: with the vocabularies of real models and a model that closes nothing.

    python scripts/evidence_budget.py complete FOLDER [COUNT]    every budget from the shortest text up
    python scripts/evidence_budget.py distance FOLDER [COUNT]    how far closings are from the shortest that there are
    python scripts/evidence_budget.py size FOLDER                grammars of 1 to 100 tools
    python scripts/evidence_budget.py model FOLDER [COUNT]       real models with small budgets

`make evidence ARGS=constraint` fetches what is needed into a folder of its own and runs all of them.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import fetch_tokenizers
import public_schemas

from wieldy.connect.models.gguf import read_metadata
from wieldy.connect.models.local import LocalModel
from wieldy.connect.models.weights import EMBEDDED, SMALLEST, find
from wieldy.core.calls import InvalidToolCall, ToolChoice
from wieldy.core.errors import BudgetError, GrammarError, UsageError
from wieldy.core.messages import Message
from wieldy.formats import get
from wieldy.grammar import Grammar, Guard, Matcher, Tokenizer, minimum_tokens
from wieldy.grammar.budget.cutting import cutter_of
from wieldy.grammar.budget.network import network_of
from wieldy.grammar.budget.searching import Completions
from wieldy.grammar.budget.tracker import Standing
from wieldy.grammar.compiled import compiled
from wieldy.grammar.shape import Json, Rules
from wieldy.run.guided import Completion
from wieldy.schema import CompiledSchema

MORE = (0, 1, 2, 4, 8, 16, 48)
"""Tokens that a budget has beyond the shortest text."""
REQUIRED = ToolChoice(mode="required")
_CLOSERS = frozenset(b'"]}>)')
_OFFERED = 8
_SAMPLED = 60


def qwen3() -> Tokenizer:
    """151,669 tokens."""
    known = fetch_tokenizers.VOCABULARIES["qwen3"]
    return Tokenizer.of_json(fetch_tokenizers.fetch("qwen3").read_text(encoding="utf-8"), end_token=known.end_tokens)


def smollm2() -> Tokenizer:
    """49,152 tokens, out of the model's own file."""
    path = find(SMALLEST)
    if path is None:
        sys.exit("The smallest model is not here: run `make test`, which fetches it.")
    return Tokenizer.of_gguf(read_metadata(path))


# What is written under constraints


@dataclass(frozen=True)
class Task:
    """A constraint, and what says whether a text is what it should be."""

    grammar: Grammar
    is_right: Callable[[str], bool]


def calls(folder: Path, tokenizer: Tokenizer, count: int) -> Iterator[Task]:
    """One required call of one real tool, as Hermes and Qwen write it."""
    chat = get("hermes")
    special = {text: tokenizer.special_tokens[text] for text in chat.special_tokens_of(tokenizer.special_tokens)}
    for name, schema in _some(list(functions(folder).items()), count):
        tools = [{"type": "function", "function": {"name": name, "parameters": schema}}]
        judge = CompiledSchema(schema)

        def is_right(text: str, tools: Any = tools, judge: CompiledSchema = judge) -> bool:
            found = chat.parse(text, tools, prompt="").calls
            return bool(found) and not any(
                isinstance(call, InvalidToolCall) or not judge.accepts(call.arguments) for call in found
            )

        yield Task(chat.grammar(tools, tool_choice=REQUIRED, special_tokens=special, prompt=""), is_right)


def functions(folder: Path) -> dict[str, dict[str, Any]]:
    """The parameters of BFCL's functions by name."""
    found = dict[str, dict[str, Any]]()
    for name, schema in public_schemas.functions(folder):
        found.setdefault(name.replace(".", "_"), schema)
    return found


def values(schemas: Sequence[dict[str, Any]]) -> Iterator[Task]:
    """One JSON value of each schema; those that the engine refuses are left out."""
    for schema in schemas:
        try:
            grammar = compiled(Rules(start=Json(schema)))
            judge = CompiledSchema(schema)
        except (GrammarError, UsageError):
            continue  # the engine refuses it, or it refers to what is elsewhere

        def is_right(text: str, judge: CompiledSchema = judge, grammar: Grammar = grammar) -> bool:
            value = json.loads(text)
            return bool(grammar.unenforced) or judge.accepts(value)

        yield Task(grammar, is_right)


def kubernetes(folder: Path, count: int) -> list[dict[str, Any]]:
    """Definitions of Kubernetes' newest version that must have something, each with those that it needs."""
    path = max(folder.rglob("*-local-strict/_definitions.json"), key=lambda path: _version(path.parent.name))
    definitions = json.loads(path.read_text(encoding="utf-8"))["$defs"]
    names = [name for name in sorted(definitions) if definitions[name].get("required")]
    return [_document(name, definitions) for name in _some(names, count)]


def _version(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.removeprefix("v").partition("-")[0].split("."))


def _document(name: str, definitions: dict[str, Any]) -> dict[str, Any]:
    needed, waiting = dict[str, Any](), [name]
    while waiting:
        found = waiting.pop()
        if found not in needed:
            needed[found] = definitions[found]
            waiting += _references(definitions[found])
    return {"$ref": f"#/$defs/{name}", "$defs": needed}


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for part in schema for name in _references(part)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"].rpartition("/")[2]] if isinstance(schema.get("$ref"), str) else []
    return own + [name for part in schema.values() for name in _references(part)]


def _some(found: list[Any], count: int) -> list[Any]:
    random.Random(7).shuffle(found)
    return found[:count]


# A model that closes nothing


@dataclass
class Score:
    """What came of the runs over one set."""

    counts: Counter[str] = field(default_factory=Counter[str])
    steps_ms: list[float] = field(default_factory=list[float])

    def row(self, title: str) -> str:
        """A row of the table."""
        counts, steps = self.counts, sorted(self.steps_ms)
        runs = counts["runs"]
        cells = [
            title,
            f"{counts['tasks']:,}",
            f"{runs:,}",
            f"{counts['complete']:,}",
            f"{counts['right']:,}",
            f"{counts['complete without']:,}",
            f"{len(steps):,}",
            f"{counts['refused'] / max(1, len(steps)):.1f}",
            *(f"{steps[int(len(steps) * share)]:.3f}" for share in (0.5, 0.99)),
            f"{steps[-1]:.1f}",
        ]
        return "| " + " | ".join(cells) + " |"


def offered(mask: Any, chance: random.Random, tokenizer: Tokenizer) -> list[int]:
    """Some tokens that the mask allows, at random; those that close something last."""
    size = len(tokenizer)
    found = [token for token in (chance.randrange(size) for _ in range(_SAMPLED)) if mask.allows(token)]
    if len(found) < _OFFERED:
        allowed = mask.allowed
        found = chance.sample(allowed, min(len(allowed), _SAMPLED))
    return sorted(found, key=lambda token: _is_closing(token, tokenizer))[:_OFFERED]


def _is_closing(token: int, tokenizer: Tokenizer) -> bool:
    return token in tokenizer.special_ids or not _CLOSERS.isdisjoint(tokenizer.tokens[token])


def guarded(task: Task, tokenizer: Tokenizer, budget: int, chance: random.Random, score: Score) -> None:
    """One text within the budget."""
    guard = Guard(task.grammar, tokenizer, max_tokens=budget)
    text = b""
    while not guard.is_finished and (guard.remaining or not guard.is_accepting):
        likely = offered(guard.fill_mask(), chance, tokenizer)
        started = time.process_time()
        token = guard.choose(likely)
        score.steps_ms.append((time.process_time() - started) * 1e3)
        score.counts["refused"] += likely.index(token) if token in likely else len(likely)
        if token in tokenizer.end_tokens:
            break
        text += tokenizer.tokens[token]
    is_complete = guard.is_accepting and guard.remaining >= 0
    score.counts.update({"runs": 1, "complete": is_complete, "right": is_complete and task.is_right(text.decode())})


def unguarded(task: Task, tokenizer: Tokenizer, budget: int, chance: random.Random, score: Score) -> None:
    """The same under the mask alone."""
    matcher = Matcher(task.grammar, tokenizer)
    for _ in range(budget):
        token = offered(matcher.fill_mask(), chance, tokenizer)[0]
        matcher.accept_token(token)
        if matcher.is_finished:
            break
    score.counts["complete without"] += matcher.is_accepting


def complete(folder: Path, count: int) -> None:
    """Every budget, for real tools and hard schemas."""
    print("| what | constraints | runs | complete | right | complete by the mask alone | steps | refused a step |")
    print("| ms a step, median | p99 | most |\n|---|---|---|---|---|---|---|---|---|---|---|")
    for name, vocabulary in (("Qwen3", qwen3), ("SmolLM2", smollm2)):
        tokenizer = vocabulary()
        for title, tasks in (
            ("calls of BFCL's functions", calls(folder, tokenizer, count)),
            ("Kubernetes", values(kubernetes(folder, count // 3))),
            ("check-jsonschema", values(list(public_schemas.check_jsonschema(folder)))),
            ("SchemaStore", values(_some(list(public_schemas.schemastore(folder)), count // 3))),
        ):
            score = Score()
            for number, task in enumerate(tasks):
                score.counts["tasks"] += 1
                minimum = minimum_tokens(task.grammar, tokenizer)
                for more in MORE:
                    guarded(task, tokenizer, minimum + more, random.Random(number * 100 + more), score)
                    unguarded(task, tokenizer, minimum + more, random.Random(number * 100 + more), score)
            print(score.row(f"{name}: {title}"), flush=True)


# How far from the shortest


@dataclass
class Shortest:
    """The fewest tokens that complete a text, found by going through all that can be written, layer by layer.

    Args:
        tokenizer: The vocabulary.
    """

    tokenizer: Tokenizer
    _next: dict[bytes, set[int]] = field(default_factory=dict[bytes, set[int]])
    _texts: set[bytes] = field(default_factory=set[bytes])
    _following: dict[Hashable, dict[Hashable, Standing]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        special = self.tokenizer.special_ids
        self._texts = {text for number, text in enumerate(self.tokenizer.tokens) if text and number not in special}
        for text in self._texts:
            for end in range(len(text)):
                self._next.setdefault(text[:end], set()).add(text[end])

    def count(self, standing: Standing, most: int) -> int:
        """How many tokens are needed, if that is fewer than the most; otherwise the most."""
        layer, seen = {standing.place: standing}, set[Hashable]()
        for count in range(most):
            if any(found.is_complete for found in layer.values()):
                return count
            seen.update(layer)
            layer = {
                place: following
                for found in layer.values()
                for place, following in self._after(found).items()
                if place not in seen
            }
        return most

    def _after(self, standing: Standing) -> dict[Hashable, Standing]:
        """Where a text may stand after any one token."""
        if standing.place not in self._following:
            found = dict[Hashable, Standing]()
            waiting = [(b"", standing)]
            while waiting:
                text, before = waiting.pop()
                for byte in self._next.get(text, ()):
                    following = before.after(bytes([byte]))
                    if following is not None:
                        longer = text + bytes([byte])
                        waiting.append((longer, following))
                        if longer in self._texts:
                            found.setdefault(following.place, following)
            self._following[standing.place] = found
        return self._following[standing.place]


_MOST_TOKENS = 9
"""Only where the end is known to be this near: all ways to it are gone through."""


def distance(folder: Path, count: int) -> None:
    """At random places in calls: the witness's length beside that of the shortest completion that exists."""
    tokenizer = smollm2()
    shortest, gaps, searched, lengths = Shortest(tokenizer), Counter[int](), Counter[int](), list[int]()
    for name, schema in list(functions(folder).items())[:count]:
        properties = {"name": {"enum": [name]}, "arguments": schema}
        call = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
        grammar = compiled(Rules(start=Json(call)))
        matcher, standing = Matcher(grammar, tokenizer), network_of(grammar).standing()
        completions = Completions(matcher, cutter_of(tokenizer), end_token=tokenizer.end_token)
        chance = random.Random(len(name))
        for step in range(30):
            witness = completions.confirmed((), standing)
            if witness is None or matcher.is_finished:
                break
            if step % 3 == 2 and len(witness) <= _MOST_TOKENS:
                needed = shortest.count(standing, len(witness))
                gaps[len(witness) - needed] += 1
                searched[len(completions.fewest(standing) or ()) - needed] += 1
                lengths.append(needed)
            likely = offered(matcher.fill_mask(), chance, tokenizer)
            token = witness[0] if chance.random() < 0.5 and matcher.validate(witness[:1]) else chance.choice(likely)
            matcher.accept_token(token)
            following = standing.after(tokenizer.tokens[token])
            if following is None:
                sys.exit(f"The network has lost a text of {name}.")
            standing = following
    mean = sum(lengths) / len(lengths)
    print(f"{len(lengths)} places in calls of {count} functions, SmolLM2; on average {mean:.1f} tokens to the end.\n")
    print("| tokens above the shortest | the witness while writing | what a refusal of a budget is measured by |")
    print("|---|---|---|")
    for gap in sorted({*gaps, *searched}):
        print(f"| {gap} | {gaps[gap]} | {searched[gap]} |", flush=True)


# What it costs where grammars are large


def size(folder: Path) -> None:
    """Grammars of many tools, and the parts of a guard's work."""
    tokenizer = qwen3()
    cutter_of(tokenizer)
    tools = [
        {"type": "function", "function": {"name": name, "parameters": schema}}
        for name, schema in _some(list(functions(folder).items()), 100)
    ]
    chat = get("hermes")
    special = {text: tokenizer.special_tokens[text] for text in chat.special_tokens_of(tokenizer.special_tokens)}
    print(
        "| tools | compiling, ms | first guard, ms | further guards, ms | minimum, tokens | ms a step, median | p99 |"
    )
    print("|---|---|---|---|---|---|---|")
    for count in (1, 10, 30, 100):
        timed = Timer()
        grammar = chat.grammar(tools[:count], tool_choice=REQUIRED, special_tokens=special, prompt="")
        compiling = timed.ms()
        Guard(grammar, tokenizer, max_tokens=500)
        first = timed.ms()
        Guard(grammar, tokenizer, max_tokens=500)
        further = timed.ms()
        minimum, score = minimum_tokens(grammar, tokenizer), Score()
        for more in MORE:
            guarded(Task(grammar, lambda _: True), tokenizer, minimum + more, random.Random(more), score)
        steps = sorted(score.steps_ms)
        cells = [count, *(f"{ms:.1f}" for ms in (compiling, first, further)), minimum]
        cells += [f"{steps[int(len(steps) * share)]:.3f}" for share in (0.5, 0.99)]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


class Timer:
    """CPU time from one question to the next."""

    def __init__(self) -> None:
        self._then = time.process_time()

    def ms(self) -> float:
        """Milliseconds since it was last asked."""
        then, self._then = self._then, time.process_time()
        return (self._then - then) * 1e3


# Real models

BUDGETS = (16, 24, 32, 48, 64, 96)
_WIDE = 400


def model(folder: Path, count: int) -> None:
    """Calls that real models write to BFCL's questions, within small budgets."""
    print("| model | budget | below the shortest call | complete with a guard | complete by the mask alone |")
    print("|---|---|---|---|---|")
    for weights in (SMALLEST, EMBEDDED):
        path = find(weights)
        if path is None:
            print(f"| {weights.name} | not here |")
            continue
        lines = next(folder.rglob("BFCL_v4_simple_python.json")).read_text(encoding="utf-8").splitlines()[:count]
        asked = anyio.run(_written, LocalModel(path=path), [json.loads(line) for line in lines])
        for budget in BUDGETS:
            found = [calls[budget] for calls in asked]
            alone = sum(0 < calls[_WIDE] <= budget for calls in asked)
            refused = sum(length is None for length in found)
            whole = sum(bool(length) for length in found)
            print(f"| {weights.name} | {budget} | {refused} | {whole} of {count - refused} | {alone} |", flush=True)


async def _written(local: LocalModel, entries: list[dict[str, Any]]) -> list[dict[int, int | None]]:
    """For every question and budget: the tokens of the complete call; None if the budget was refused, 0 if cut."""
    found: list[dict[int, int | None]] = []
    for entry in entries:
        (function,), ((question, *_), *_) = entry["function"], entry["question"]
        schema = public_schemas.with_types(function["parameters"])
        properties = {"name": {"enum": [function["name"]]}, "arguments": schema}
        call = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
        grammar = compiled(Rules(start=Json(call, one_line=True)))
        told = f"Answer with one JSON object that calls this function:\n{json.dumps(function)}"
        prompt = await local.chat_prompt([Message.system(told), Message.user(question["content"])])
        found.append({budget: await _length(local, prompt, grammar, budget) for budget in (*BUDGETS, _WIDE)})
    return found


async def _length(local: LocalModel, prompt: str, grammar: Grammar, budget: int) -> int | None:
    try:
        async for piece in local.write(prompt, max_tokens=budget, grammar=grammar):
            if isinstance(piece, Completion):
                return 0 if piece.finish == "length" or not _is_json(piece.text) else len(piece.tokens)
    except BudgetError:
        return None
    return 0


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def main(arguments: list[str]) -> None:
    match arguments:
        case ["complete", folder, *count]:
            complete(Path(folder), int(count[0]) if count else 300)
        case ["distance", folder, *count]:
            distance(Path(folder), int(count[0]) if count else 40)
        case ["size", folder]:
            size(Path(folder))
        case ["model", folder, *count]:
            model(Path(folder), int(count[0]) if count else 30)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
