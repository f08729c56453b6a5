"""Regular expressions as programs of an automaton, whose cost is bounded by text times pattern.

What needs backtracking is refused: references to groups, looking ahead and behind, and the repetition of what may be
empty. All else means what it means in Python.

Source: Cox, "Regular Expression Matching: the Virtual Machine Approach" (2009).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

IGNORECASE: Final = 2
MULTILINE: Final = 8
DOTALL: Final = 16

Predicate: TypeAlias = Callable[[str], bool]
_MOST_INSTRUCTIONS: Final = 5_000
_MOST_LEVELS: Final = 20
_ENDLESS: Final = -1
_QUANTIFIER: Final = re.compile(r"\{(\d{1,4})?(,)?(\d{1,4})?\}")
_GROUP_NAME: Final = re.compile(r"\?P<([A-Za-z_]\w{0,60})>", re.ASCII)
_FLAGS: Final = re.compile(r"\(\?([ims]{1,3})\)")
_CLASSES: Final[dict[str, Predicate]] = {
    "d": str.isdecimal,
    "w": lambda one: one.isalnum() or one == "_",
    "s": str.isspace,
    "D": lambda one: not one.isdecimal(),
    "W": lambda one: not (one.isalnum() or one == "_"),
    "S": lambda one: not one.isspace(),
}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "0": "\0"}


@dataclass(slots=True)
class Instruction:
    """One step: `take` a character, `split` into two ways, `save` a place, `assert` something of it, or `match`."""

    kind: str
    predicate: Predicate | None = None
    one: int = 0
    other: int = 0
    name: str = ""


@dataclass(slots=True)
class Pattern:
    """A program, how many groups it has, and their names."""

    instructions: list[Instruction] = field(default_factory=list[Instruction])
    groups: int = 0
    names: dict[str, int] = field(default_factory=dict[str, int])


class PatternError(ValueError):
    """The text is no regular expression, or one that is not supported."""


def read_pattern(text: str, flags: int = 0) -> Pattern:
    """The program of the regular expression.

    Raises:
        PatternError: It is none, or needs what is not supported.
    """
    inline = _FLAGS.match(text)
    if inline:
        text = text[inline.end() :]
        flags |= sum({"i": IGNORECASE, "m": MULTILINE, "s": DOTALL}[letter] for letter in set(inline[1]))
    reader = _Reader(text, flags)
    reader.choice(0)
    if reader.at < len(text):
        raise PatternError(f"there is nothing for the ')' at {reader.at} to close")
    reader.emit(Instruction("match"))
    return reader.pattern


class _Reader:
    """Reads a pattern and writes its program; every method says whether what it read may be empty."""

    def __init__(self, text: str, flags: int) -> None:
        self.text = text
        self.flags = flags
        self.at = 0
        self.pattern = Pattern()

    @property
    def next(self) -> str:
        return self.text[self.at : self.at + 1]

    def emit(self, instruction: Instruction) -> int:
        if len(self.pattern.instructions) >= _MOST_INSTRUCTIONS:
            raise PatternError("the regular expression is too large")
        self.pattern.instructions.append(instruction)
        return len(self.pattern.instructions) - 1

    def choice(self, depth: int) -> bool:
        if depth > _MOST_LEVELS:
            raise PatternError(f"groups within groups go {_MOST_LEVELS} levels deep at most")
        program = self.pattern.instructions
        start = len(program)
        is_empty = False
        branches: list[list[Instruction]] = []
        while True:
            is_empty = self.sequence(depth) or is_empty
            branches.append(program[start:])
            del program[start:]
            if self.next != "|":
                break
            self.at += 1
        jumps: list[int] = []
        for branch in branches[:-1]:
            split = self.emit(Instruction("split", one=len(program) + 1))
            self._append_moved(branch, start, len(program))
            jumps.append(self.emit(Instruction("jump")))
            program[split].other = len(program)
        self._append_moved(branches[-1], start, len(program))
        for jump in jumps:
            program[jump].one = len(program)
        return is_empty

    def _append_moved(self, part: list[Instruction], old: int, new: int) -> None:
        for one in part:
            moves = one.kind in ("split", "jump")
            self.emit(
                Instruction(
                    one.kind,
                    one.predicate,
                    one.one - old + new if moves else one.one,
                    one.other - old + new if moves else one.other,
                    one.name,
                )
            )

    def sequence(self, depth: int) -> bool:
        is_empty = True
        while self.next and self.next not in "|)":
            start = len(self.pattern.instructions)
            part_is_empty = self.atom(depth)
            part_is_empty = self.quantified(start, is_empty=part_is_empty)
            is_empty = is_empty and part_is_empty
        return is_empty

    def quantified(self, start: int, *, is_empty: bool) -> bool:
        least, most = self._quantifier()
        if (least, most) == (1, 1):
            return is_empty
        if is_empty:
            raise PatternError("the repetition of what may be empty is not supported")
        is_lazy = self.next == "?"
        self.at += is_lazy
        if self.next and self.next in "*+?{" and self._quantifier() != (1, 1):
            raise PatternError("a repetition of a repetition is not supported: put it in a group")
        self._repeat(start, least, most, is_lazy=is_lazy)
        return least == 0

    def _quantifier(self) -> tuple[int, int]:
        found = {"*": (0, _ENDLESS), "+": (1, _ENDLESS), "?": (0, 1)}.get(self.next)
        if found:
            self.at += 1
            return found
        counted = _QUANTIFIER.match(self.text, self.at)
        if counted is None or not (counted[1] or counted[3]):
            return 1, 1
        self.at = counted.end()
        least = int(counted[1] or 0)
        most = int(counted[3]) if counted[3] else _ENDLESS if counted[2] else least
        if most != _ENDLESS and most < least:
            raise PatternError(f"a repetition from {least} to {most}")
        return least, most

    def _repeat(self, start: int, least: int, most: int, *, is_lazy: bool) -> None:
        program = self.pattern.instructions
        body = program[start:]
        del program[start:]
        for _ in range(least):
            self._append_moved(body, start, len(program))
        if most == _ENDLESS:
            split = self.emit(Instruction("split"))
            self._append_moved(body, start, len(program))
            self.emit(Instruction("jump", one=split))
            self._aim(split, split + 1, len(program), is_lazy=is_lazy)
            return
        splits: list[int] = []
        for _ in range(most - least):
            splits.append(self.emit(Instruction("split")))
            self._append_moved(body, start, len(program))
        for split in splits:
            self._aim(split, split + 1, len(program), is_lazy=is_lazy)

    def _aim(self, split: int, into: int, past: int, *, is_lazy: bool) -> None:
        instruction = self.pattern.instructions[split]
        instruction.one, instruction.other = (past, into) if is_lazy else (into, past)

    def atom(self, depth: int) -> bool:
        one = self.next
        self.at += 1
        if one == "(":
            return self.group(depth)
        if one in "^$":
            is_multiline = bool(self.flags & MULTILINE)
            kind = (
                ("line start" if is_multiline else "start") if one == "^" else ("line end" if is_multiline else "end")
            )
            self.emit(Instruction("assert", name=kind))
            return True
        if one in "*+?":
            raise PatternError(f"there is nothing for the {one!r} at {self.at - 1} to repeat")
        if one == "\\" and self.next and self.next in "AZbB":
            names = {"A": "start", "Z": "very end", "b": "edge", "B": "no edge"}
            self.emit(Instruction("assert", name=names[self.next]))
            self.at += 1
            return True
        self.emit(Instruction("take", self.predicate(one)))
        return False

    def predicate(self, one: str) -> Predicate:
        if one == ".":
            is_all = bool(self.flags & DOTALL)
            return lambda given: is_all or given != "\n"
        if one == "[":
            return self.character_class()
        if one == "\\":
            return self.escape()
        return self.cased(lambda given: given == one)

    def cased(self, predicate: Predicate) -> Predicate:
        if not self.flags & IGNORECASE:
            return predicate
        return lambda given: predicate(given) or predicate(given.lower()) or predicate(given.upper())

    def group(self, depth: int) -> bool:
        number = 0
        named = _GROUP_NAME.match(self.text, self.at)
        if self.text.startswith("?:", self.at):
            self.at += 2
        elif self.next == "?" and named is None:
            raise PatternError("only groups (...), (?:...) and (?P<name>...) are supported")
        else:
            self.pattern.groups += 1
            number = self.pattern.groups
            if named is not None:
                self.at = named.end()
                self.pattern.names[named[1]] = number
        if number:
            self.emit(Instruction("save", one=2 * number))
        is_empty = self.choice(depth + 1)
        if self.next != ")":
            raise PatternError("a group is not closed")
        self.at += 1
        if number:
            self.emit(Instruction("save", one=2 * number + 1))
        return is_empty

    def escape(self) -> Predicate:
        letter = self.next
        self.at += 1
        if letter in _CLASSES:
            return _CLASSES[letter]
        literal = self.literal(letter)
        return self.cased(lambda given: given == literal)

    def literal(self, letter: str) -> str:
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        if not letter or letter.isalnum():
            raise PatternError(f"the escape \\{letter} is not supported")
        return letter

    def character_class(self) -> Predicate:
        is_negated = self.next == "^"
        self.at += is_negated
        parts: list[Predicate] = []
        is_first = True
        while self.next != "]" or is_first:
            is_first = False
            parts.append(self.class_part())
        self.at += 1
        within = self.cased(lambda given: any(part(given) for part in parts))
        return (lambda given: not within(given)) if is_negated else within

    def class_part(self) -> Predicate:
        low = self.class_character()
        if not isinstance(low, str):
            return low
        if self.next != "-" or self.text[self.at + 1 : self.at + 2] in ("]", ""):
            return lambda given: given == low
        self.at += 1
        high = self.class_character()
        if not isinstance(high, str) or high < low:
            raise PatternError("a range of characters goes from a lower one to a higher one")
        return lambda given: low <= given <= high

    def class_character(self) -> str | Predicate:
        one = self.next
        self.at += 1
        if not one:
            raise PatternError("a class of characters is not closed")
        if one != "\\":
            return one
        letter = self.next
        self.at += 1
        return _CLASSES.get(letter) or ("\b" if letter == "b" else self.literal(letter))
