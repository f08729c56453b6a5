"""The table of what attacks on a model look like, each by its beginnings and the pattern that follows from there.

Texts are in small letters, without invisible characters, and with the line breaks that JSON writes as escapes. Every
repetition has a bound, so that what one place costs does not depend on the length of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_GAP: Final = r"\W{1,12}"
_FEW_WORDS: Final = r"(?:\W{1,12}\w{1,20}){0,5}?"
_REST: Final = r"[^.\n]{0,40}?"
_READER: Final = (
    r"(?:ai (?:agent|assistant|model|system)|ai|llm|assistant|language model|chatbot|gpt|claude|gemini|agent)s?\b"
)
_LINE_START: Final = r"(?:^|[\n\"'`|])[ \t>*#_\[-]{0,12}$"


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of attack.

    Attributes:
        beginnings: With what it can begin.
        pattern: What it looks like from there on.
        before: What must stand before it, up to its beginning.
    """

    beginnings: tuple[str, ...]
    pattern: re.Pattern[str]
    before: re.Pattern[str] | None = None


def _shape(*beginnings: str, then: str, before: str | None = None) -> Shape:
    return Shape(beginnings, re.compile(then), None if before is None else re.compile(before))


_TAKING_BACK: Final = (
    _shape(
        *("ignore", "ignoring", "disregard", "forget", "overrid", "bypass", "neglect"),
        *("do not follow", "don't follow", "stop following"),
        then=r"(?:ignore|ignoring|disregard|disregarding|forget|override|overriding|bypass|neglect|do not follow|"
        rf"don't follow|stop following)\b{_FEW_WORDS}{_GAP}(?:"
        rf"(?:previous|prior|above|earlier|preceding|foregoing)\b{_FEW_WORDS}{_GAP}(?:instruction|prompt|directi|rule|"
        r"guid|command|order|constraint|context|conversation|message|task|polic|text)"
        rf"|(?:all|any|your|the|system|safety|developer|original|initial|existing)\b{_FEW_WORDS}{_GAP}"
        r"(?:instruction|prompt|directive|guideline|guidance|programming|training|safeguard|restriction))",
    ),
    _shape(
        *("ignore", "disregard", "forget"),
        then=rf"(?:ignore|disregard|forget){_GAP}(?:everything|anything|whatever|all|what)\b{_FEW_WORDS}{_GAP}"
        r"(?:above|before|previously|earlier|so far|told|said)\b",
    ),
    _shape(
        *("ignorier", "vergiss", "missacht"),
        then=r"(?:ignorier|vergiss|missacht)[^\n]{0,60}?(?:anweisung|regel|befehl|vorgabe)",
    ),
    _shape(
        *("ignor", "olvid", "oubli", "esque"),
        then=r"(?:ignor|olvid|oubli|esque)[^\n]{0,60}?(?:instruccion|instructions pr|consigne|instruç|istruzion)",
    ),
    _shape("忽略", "无视", "忘记", then=r".{2,14}?(?:指令|指示|提示|规则|命令|说明)"),
    _shape("指示", "命令", then=r".{2,6}?無視"),
    _shape("игнориру", "забудь", then=r"[^\n]{6,60}?(?:инструкци|указани|команд)"),
)

_ANOTHER_ROLE: Final = (
    _shape("you are now", then=r"you are now\W{1,4}\w"),
    _shape("from now on", "henceforth", then=r"(?:from now on|henceforth),?\s{1,4}you\b"),
    _shape(
        *("new ", "updated ", "real ", "actual ", "true "),
        then=r"\w{3,7} (?:system )?(?:instructions?|prompt|objectives?|directives?|orders)\s{0,4}(?::|is\b|are\b)",
    ),
    _shape(
        *("your new ", "your real ", "your actual ", "your true ", "your only "),
        then=r"your \w{3,6} (?:system )?(?:instruction|prompt|objective|directive|orders|task|role|goal|job)",
    ),
    _shape(
        *("developer mode", "dan mode", "unrestricted mode"),
        then=r"\w{3,12} mode\W{1,4}(?:is |now ){0,2}(?:enabled|on|activated|active)\b",
    ),
    _shape(
        *("before you can", "before you continue", "before you solve", "before answering", "in order to continue"),
        then=r"[^.\n]{10,120}?\b(?:please|must|first|need to|have to)\b",
    ),
)

_TO_THE_READER: Final = (
    _shape(
        *("attention", "important", "note", "notice", "message", "instruction", "reminder"),
        then=rf"\w{{4,12}}\b{_REST}\b(?:to|for)[\s:,]{{1,3}}(?:(?:the|any|all|every|an?|you|our|my)[\s,]{{1,3}}){{0,2}}"
        rf"{_READER}(?=\s{{0,2}}(?:$|[:;,!-]|you\b|that\b|please\b|reading\b|process|who\b))",
    ),
    _shape(
        *("dear ", "hello", "hey", "hi "),
        then=rf"(?:dear|hello|hey|hi)[\s,]{{1,3}}(?:(?:the|my|there)[\s,]{{1,3}})?{_READER}",
        before=r"(?:^|\W)$",
    ),
    _shape(
        *("if you are", "if you're"),
        then=r"if you(?: are|'re) (?:an? |the )?(?:ai|llm|large language model|language model|assistant|chatbot)\b",
    ),
    _shape(
        *("as an ai", "as a language model", "as an llm"),
        then=r"as an? (?:ai assistant|ai agent|ai|llm|language model)[\s,]{1,4}you\b",
    ),
)

_BEHIND_THE_USER: Final = (
    _shape(
        *("do not ", "don't ", "never ", "without "),
        then=r"(?:do not|don't|never|without) (?:ever )?"
        rf"(?:tell|inform|mention|ask|notif|alert|reveal|show|warn)\w{{0,5}}\b{_REST}\b(?:the|your) (?:user|human)\b",
    ),
    _shape(
        "the user ",
        then=r"the user (?:has |have |is )?(?:already |explicitly )?(?:pre-)?(?:approved|authori[sz]ed|consented|"
        r"confirmed|agreed|asked you|wants you|granted you)\b",
    ),
    _shape(
        *("reveal", "print", "repeat", "output", "show", "leak", "display", "tell me", "send", "recite", "disclose"),
        then=rf"(?:\w{{4,8}}|tell me)\b{_REST}\b"
        r"(?:system prompt|your (?:initial |original |system )?(?:instructions|prompt))\b",
    ),
    _shape(
        *("send", "forward", "upload", "email", "e-mail", "post ", "exfiltrate", "leak"),
        then=rf"[\w-]{{4,10}}{_REST}\b(?:conversation|chat history|system prompt|api[ _-]?keys?|passwords?|"
        rf"credentials?|secrets?|access tokens?|private keys?|environment variables)\b{_REST}"
        r"\bto\s{1,4}(?:\S{0,80}[@/]|me\b)",
    ),
    _shape(
        *("you must", "you should", "you need to", "you have to", "please ", "immediately ", "now "),
        then=r"(?:you (?:must|should|need to|have to)|please|immediately|now)[\s,]{1,4}"
        r"(?:immediately |now |first |also )?(?:call|use|invoke|run|execute)\s{1,4}(?:the |your )?"
        r"[`\"']?[\w.-]{1,40}[`\"']?\s{1,4}(?:tool|function)\b",
    ),
)

_ROLES: Final = (
    _shape(
        *("system", "assistant", "developer", "human"),
        then=r"\w{5,9}(?: prompt| message| instructions?| note)?[*_\]]{0,3}:[*_]{0,3}(?:\s{1,4}\S{1,40}){3}",
        before=_LINE_START,
    ),
    _shape(
        "##",
        then=r"#{2,4}\s{0,2}(?:system|instructions?|assistant|response|human)(?: prompt| message)?\s{0,2}:?\s{0,2}"
        r"(?:\n|$)",
        before=r"(?:^|[\n\"])[ \t]{0,4}$",
    ),
)

_BRACKETED: Final = (
    _shape(
        *("[system", "[assistant", "[admin"),
        then=r"\[(?:system|assistant|admin)(?: message| prompt| note| override| instructions?)?\]",
    ),
    _shape(
        *("[inst", "[/inst", "[available_tools", "[/available", "[tool_", "[/tool_"),
        then=r"\[/?(?:inst|available_tools|tool_calls?|tool_results?|tool_content)\]",
    ),
)

_MARKUP: Final = (
    _shape("<|", "<｜", then=r"<[|｜]\s{0,2}[\w/▁.:-]{2,40}\s{0,2}[|｜]>"),
    _shape("<<", then=r"<</?sys>>"),
    _shape("<start_of", "<end_of", then=r"<\w{3,5}_of_turn>"),
    _shape(
        *("<tool", "</tool", "<function", "</function", "<antml", "</antml", "<think", "</think", "<invoke"),
        then=r"</?(?:tool_calls?|toolcall|tool_response|tool_results?|function_calls?|function_results?|antml:\w{1,30}|"
        r"think|thinking)\b[^<>\n]{0,80}>|<(?:function|tool)=[\w.-]{1,64}>|<invoke\s{1,4}name=",
    ),
    _shape(
        *(
            "<system",
            "</system",
            "<important",
            "</important",
            "<instruction",
            "</instruction",
            "<information",
            "<admin",
        ),
        then=r"</?(?:system(?:[-_](?:prompt|reminder|message|instructions?))?|important|important_instructions|"
        r"instructions|information|admin)>",
    ),
    _shape("</user>", "</assistant>", then=r"</\w{4,9}>"),
    _shape("untrusted", then=r"untrusted\b", before=r"<\s{0,4}/?\s{0,4}$"),
)

SHAPES: Final[tuple[tuple[str, tuple[Shape, ...]], ...]] = (
    ("", (*_TAKING_BACK, *_ANOTHER_ROLE, *_TO_THE_READER, *_BEHIND_THE_USER, *_ROLES)),
    ("[", _BRACKETED),
    ("<", _MARKUP),
)
"""All of them, by a text that stands in every one of the group."""
