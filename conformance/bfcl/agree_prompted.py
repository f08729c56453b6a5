"""Compares our prompts, and our reading of what prompted models write, with the leaderboard's own.

    python conformance/bfcl/agree_prompted.py WHEEL [COUNT] [SEED]

All 5,200 prompts of format sensitivity, to the letter; the listed answers in every form; COUNT changed replies (40,000)
in the four forms, with and without marks. Text of Python that the checker would run is not given to it, and neither is
JSON on which its search takes exponential time. Where `tree_sitter` 0.21.3 and its grammars `tree_sitter_java` 0.21.0
and `tree_sitter_javascript` 0.21.4 are installed, COUNT / 2 texts of Java and JavaScript as well: those grammars repair
broken texts by guessing, ours refuse them, and these
are counted apart, as are statements. Prints the differences; exit 1 if there is any.
"""

from __future__ import annotations

import random
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mutations import Mutations
from real_prompting import HAS_GRAMMARS, UNREAD, RealPrompting

from wieldy.evals.bfcl.answers import right_calls
from wieldy.evals.bfcl.categories import CATEGORIES, FORMAT_SENSITIVITY
from wieldy.evals.bfcl.data import BfclData, BfclTask
from wieldy.evals.bfcl.decoding import DecodingError, WouldRunError
from wieldy.evals.bfcl.prompted.data import PromptedTask, prompted_tasks
from wieldy.evals.bfcl.prompted.forms import Form
from wieldy.evals.bfcl.prompted.reading import read
from wieldy.evals.bfcl.prompted.texts import check_text, read_text
from wieldy.evals.bfcl.prompted.writing import write

MOST_SHOWN = 20
MOST_BRACES = 14
"""Of a text that the original searches for JSON; each doubles its time where it finds none."""


def main(wheel: Path, count: int = 40_000, seed: int = 20_261_130) -> int:
    """Prints the table and the differences."""
    tasks = prompted_tasks(BfclData(wheel), FORMAT_SENSITIVITY)
    differences, counts = list[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        real = RealPrompting(Path(folder))
        prompts = real.prompts()
        for each in tasks:
            counts["prompts"] += 1
            if prompts.get(each.id) != list(each.messages):
                differences.append(f"{each.id}: another prompt")
        if len(prompts) != len(tasks):
            differences.append(f"{len(prompts)} prompts there, {len(tasks)} here")
        for each in tasks:
            _compare(real, each, write(right_calls(each.task), each.form), "listed answers", counts, differences)
        changes = Changes(seed)
        if HAS_GRAMMARS:
            _compare_languages(real, BfclData(wheel), changes, count // 4, counts, differences)
        for _ in range(count):
            each = changes.chance.choice(tasks)
            _compare(real, each, changes.reply(each), f"changed replies, {each.form.calls}", counts, differences)
    print("| compared | number |\n|---|---|")
    for kind, number in sorted(counts.items()):
        print(f"| {kind} | {number:,} |")
    print(f"\n{len(differences)} differences.")
    for difference in differences[:MOST_SHOWN]:
        print(difference)
    return 1 if differences else 0


def _compare(
    real: RealPrompting, each: PromptedTask, text: str, kind: str, counts: Counter[str], differences: list[str]
) -> None:
    if each.form.calls == "json" and text.count("}") > MOST_BRACES:
        counts["JSON with many braces (not compared)"] += 1
        return
    try:
        ours_read: Any = read(text, each.form)
    except WouldRunError:
        counts["text that the checker would run (not compared)"] += 1
        return
    except DecodingError:
        ours_read = UNREAD
    theirs_read = real.read(text, each.form.calls, is_tagged=each.form.is_tagged)
    theirs, ours = real.error(each.task, theirs_read), check_text(each.task, text, each.form)
    counts[kind] += 1
    counts[f"({'right' if theirs is None else theirs.partition(':')[0]})"] += 1
    if repr(ours_read) != repr(theirs_read) or ours != theirs:
        differences.append(
            f"{each.id}: ours {ours} {ours_read!r:.200}, the checker {theirs} {theirs_read!r:.200}: {text!r:.400}"
        )


def _compare_languages(
    real: RealPrompting,
    data: BfclData,
    changes: Changes,
    count: int,
    counts: Counter[str],
    differences: list[str],
) -> None:
    for name in ("simple_java", "simple_javascript"):
        tasks = data.tasks(CATEGORIES[name])
        texts = [("listed answers", each, changes.as_text(right_calls(each), 0)) for each in tasks]
        for _ in range(count):
            each = changes.chance.choice(tasks)
            changed = [call for calls in changes.mutations.changed(each) for call in calls.items()]
            number = changes.chance.choice((0, 0, 1, 1, 2))
            texts.append(
                ("texts with changed values" if number == 0 else "broken texts", each, changes.as_text(changed, number))
            )
        for kind, each, text in texts:
            _compare_language(real, each, text, f"{name}, {kind}", counts, differences)


def _compare_language(
    real: RealPrompting, each: BfclTask, text: str, kind: str, counts: Counter[str], differences: list[str]
) -> None:
    language = each.category.language
    theirs_read = real.read(text, language)
    theirs, ours = real.error(each, theirs_read), check_text(each, text)
    try:
        ours_read: Any = read_text(text, language)
    except DecodingError:
        ours_read = UNREAD
        if theirs_read != UNREAD:
            counts[f"{kind}, read there and refused here"] += 1
            return
    counts[kind] += 1
    if (ours_read or None) != (theirs_read or None) or ours != theirs:
        differences.append(
            f"{each.id}: ours {ours} {ours_read!r:.200}, there {theirs} {theirs_read!r:.200}: {text!r:.400}"
        )


class Changes:
    """Endless changed replies; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.mutations = Mutations(seed)

    def reply(self, each: PromptedTask) -> str:
        """An answer, right or wrong, in this form or another, with up to four changes of its text."""
        chance, form = self.chance, each.form
        if chance.random() < 0.1:
            form = Form(calls=chance.choice(("python", "json", "verbose_xml", "concise_xml")), is_tagged=form.is_tagged)
        changed = [call for calls in self.mutations.changed(each.task) for call in calls.items()]
        calls = [(name, {str(key): value for key, value in given.items()}) for name, given in changed]
        try:
            text = write(calls, form)
        except StopIteration:  # of a value that no form has
            text = write(right_calls(each.task), form)
        if form.calls == "python" and chance.random() < 0.4:
            text = self.mutations.text(self.mutations.changed(each.task))
        for _ in range(chance.choice((0, 0, 1, 1, 2, 4))):
            text = self._changed(text)
        return text

    def as_text(self, calls: Iterable[tuple[str, Mapping[Any, Any]]], number: int) -> str:
        """Calls as Java or JavaScript, whose values are written as they are or in quotes, with changes of the text."""

        def value(each: Any) -> str:
            return f'"{each}"' if isinstance(each, str) and self.chance.random() < 0.5 else str(each)

        text = ", ".join(
            f"{name}({', '.join(f'{key}={value(v)}' for key, v in given.items())})" for name, given in calls
        )
        for _ in range(number):
            at = self.chance.randint(0, len(text))
            odd = self.chance.choice("\"'`<>/{}[](),:= \n;-1aé.+")
            text = self.chance.choice(
                (text[:at] + odd + text[at:], text[:at] + text[at + 1 :], text[:at] + text[max(0, at - 9) :])
            )
        return text

    def _changed(self, text: str) -> str:
        chance = self.chance
        at = chance.randint(0, len(text))
        end = min(len(text), at + chance.randint(0, 12))
        match chance.randrange(7):
            case 0:
                return text[:at] + text[end:]
            case 1:
                return text[:at] + chance.choice(ODD) + text[at:]
            case 2:
                return text[:at] + text[at:end] + text[at:]
            case 3:
                return f"{chance.choice(AROUND)}{text}{chance.choice(AROUND)}"
            case 4:
                return text.replace(*chance.choice(REPLACED))
            case 5:
                return text.replace(*chance.choice(REPLACED), 1)
            case _:
                return text[:at] if chance.random() < 0.2 else text


ODD = (
    *"\"'`<>/{}[](),:= \n\t\\&;-1aé",
    *("&lt;", "&#10;", "</functions>", "<param/>", "null", "NaN", "<TOOLCALL>"),
)
AROUND = (
    *("", " ", "\n", "```", "```xml\n", "Sure! ", "[", "]", "'"),
    *("<TOOLCALL>", "</TOOLCALL>", "<functions></functions>"),
)
REPLACED = (
    ('type="string"', 'type="integer"'),
    ('type="integer"', 'type="float"'),
    ('type="array"', 'type="tuple"'),
    ('type="float"', 'type="any"'),
    ('type="boolean"', 'type="null"'),
    (' type="string"', ""),
    ("name=", "id="),
    ("<params>", ""),
    ("params>", "param>"),
    ("value=", "val="),
    ('"parameters"', '"arguments"'),
    ('"function"', '"name"'),
    ("{", "["),
    ("}", "} "),
    ('"', "'"),
    ("'", '"'),
    ("True", "true"),
    ("=", ": "),
    (", ", ",\n"),
    ("[", "[ "),
)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(int, sys.argv[2:])))
