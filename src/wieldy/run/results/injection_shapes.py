"""The table of what attacks on a model look like, each by a word of it and the patterns before and after that word.

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
_LINE_START: Final = r"(?:^|[\n\"'`|])[ \t>*#_\[-]{0,12}"


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of attack.

    Attributes:
        words: One of them stands in it, as a whole word of the letters a to z, or as this text where it has others.
        then: What it looks like from there on.
        before: What stands immediately before.
    """

    words: tuple[str, ...]
    then: re.Pattern[str]
    before: re.Pattern[str] | None


def _shape(*words: str, then: str, before: str | None = None) -> Shape:
    return Shape(words, re.compile(then), None if before is None else re.compile(rf"(?:{before})\Z"))


_EARLIER_ORDERS: Final = (
    rf"{_FEW_WORDS}{_GAP}(?:(?:previous|prior|above|earlier|preceding|foregoing)\b{_FEW_WORDS}{_GAP}(?:instruction|prompt|"
    r"directi|rule|guid|command|order|constraint|context|conversation|message|task|polic|text)"
    rf"|(?:all|any|your|the|system|safety|developer|original|initial|existing)\b{_FEW_WORDS}{_GAP}(?:instruction|prompt|"
    r"directive|guideline|guidance|programming|training|safeguard|restriction))"
)

_TAKING_BACK: Final = (
    _shape(
        *("ignore", "ignoring", "disregard", "disregarding", "forget", "override", "overriding", "bypass", "neglect"),
        then=rf"\w+\b{_EARLIER_ORDERS}",
    ),
    _shape("follow", "following", before=r"(?:do not|don't|stop) ", then=rf"\w+\b{_EARLIER_ORDERS}"),
    _shape(
        *("ignore", "disregard", "forget"),
        then=rf"\w+{_GAP}(?:everything|anything|whatever|all|what)\b{_FEW_WORDS}{_GAP}"
        r"(?:above|before|previously|earlier|so far|told|said)\b",
    ),
    _shape(
        *("ignoriere", "ignoriert", "ignorieren", "vergiss", "vergessen", "missachte"),
        then=r"\w+[^\n]{0,60}?(?:anweisung|regel|befehl|vorgabe)",
    ),
    _shape(
        *("ignora", "ignorad", "ignore", "ignorez", "olvida", "olvide", "oublie", "oubliez"),
        then=r"\w+[^\n]{0,60}?(?:instruccion|instructions pr|consigne|instruç|istruzion)",
    ),
    _shape("忽略", "无视", "忘记", then=r".{2,14}?(?:指令|指示|提示|规则|命令|说明)"),
    _shape("指示", "命令", then=r".{2,6}?無視"),
    _shape("игнориру", "забудь", then=r"[^\n]{6,60}?(?:инструкци|указани|команд)"),
)

_ANOTHER_ROLE: Final = (
    _shape("now", before=r"\byou are ", then=r"now\W{1,4}(?:an? |in |the |my |free|going|\w+gpt|dan\b|acting|playing)"),
    _shape("now", before=r"\bfrom ", then=r"now on,?\s{1,4}you\b"),
    _shape(
        *("new", "updated", "real", "actual", "true"),
        then=r"\w+ (?:system )?(?:instructions?|prompt|objectives?|directives?|orders)\s{0,4}(?::|is\b|are\b)",
    ),
    _shape(
        *("new", "updated", "real", "actual", "true", "only"),
        before=r"\byour ",
        then=r"\w+ (?:system )?(?:instruction|prompt|objective|directive|orders|task|role|goal|job)",
    ),
    _shape("mode", before=r"(?:developer|dan|unrestricted) ", then=r"mode\W{1,4}(?:is |now ){0,2}(?:enabled|on|activ)"),
    _shape(
        *("solve", "complete", "answer", "finish", "continue"),
        before=r"\bbefore you (?:can )?",
        then=r"\w+ (?:with )?(?:the|this|your|my) (?:\w+ )?(?:task|request|question|instructions?)\b",
    ),
)

_TO_THE_READER: Final = (
    _shape(
        *("attention", "important", "note", "notice", "message", "instruction", "instructions", "reminder"),
        then=rf"\w+\b{_REST}\b(?:to|for)[\s:,]{{1,3}}(?:(?:the|any|all|every|an?|you|our|my)[\s,]{{1,3}}){{0,2}}"
        rf"{_READER}(?=\s{{0,2}}(?:$|[:;,!-]|you\b|that\b|please\b|reading\b|process|who\b))",
    ),
    _shape(
        *("dear", "hello", "hey", "hi", "attention"),
        then=rf"\w+[\s,:]{{1,3}}(?:(?:the|my|there|all)[\s,]{{1,3}})?{_READER}",
    ),
    _shape(
        *("ai", "llm", "language", "assistant", "chatbot"),
        before=r"\bif you(?: are|'re) (?:an? |the )?(?:large )?",
        then=_READER,
    ),
    _shape("ai", "llm", "language", before=r"\bas an? (?:large )?", then=rf"{_READER}[\s,]{{1,4}}you\b"),
)

_BEHIND_THE_USER: Final = (
    _shape(
        *("tell", "telling", "inform", "informing", "mention", "mentioning", "asking", "notify", "notifying"),
        *("alert", "alerting", "reveal", "revealing", "show", "showing", "warn", "warning"),
        before=r"\b(?:do not|don't|never|without) (?:ever )?",
        then=rf"\w+\b{_REST}\b(?:the|your) (?:user|human)\b",
    ),
    _shape(
        "user",
        before=r"\bthe ",
        then=r"user (?:has |have |is )?(?:already |explicitly )?(?:pre-)?(?:approved|authori[sz]ed|consented|confirmed|"
        r"agreed|asked you|wants you|granted you)\b",
    ),
    _shape(
        *("reveal", "print", "repeat", "output", "show", "leak", "display", "tell", "send", "recite", "disclose"),
        then=rf"\w+\b{_REST}\b(?:system prompt|your (?:initial |original |system )?(?:instructions|prompt))\b",
    ),
    _shape(
        *("send", "forward", "upload", "email", "mail", "post", "exfiltrate", "leak"),
        then=rf"\w+\b{_REST}\b(?:conversation|chat history|system prompt|api[ _-]?keys?|passwords?|credentials?|"
        rf"secrets?|access tokens?|private keys?|environment variables)\b{_REST}\bto\s{{1,4}}(?:\S{{0,80}}[@/]|me\b)",
    ),
    _shape(
        *("call", "use", "invoke", "run", "execute"),
        before=r"\b(?:you (?:must|should|need to|have to)|please|immediately|now)[\s,]{1,4}(?:(?:now|first|also) )?",
        then=r"\w+\s{1,4}(?:the |your )?(?!(?:this|that|an?|any|the|same|following|our) )"
        r"[`\"']?[\w.-]{1,40}[`\"']?\s{1,4}(?:tool|function)\b",
    ),
)

_MARKS: Final = (
    _shape(
        *("system", "assistant", "developer", "human"),
        before=_LINE_START,
        then=r"[a-z]+(?: prompt| message| instructions?| note)?[*_\]]{0,3}:[*_]{0,3}(?:\s{1,4}\S{1,40}){3}",
    ),
    _shape(
        *("system", "instruction", "instructions", "assistant", "response", "human"),
        before=r"(?:^|[\n\"])[ \t]{0,4}#{2,4}[ \t]{0,2}",
        then=r"[a-z]+(?: prompt| message)?\s{0,2}:?\s{0,2}(?:\n|$)",
    ),
    _shape("system", "assistant", "admin", before=r"\[", then=r"\w+ (?:message|prompt|note|override|instructions?)\]"),
    _shape("inst", before=r"\[/?", then=r"inst\]"),
    _shape("sys", before=r"<</?", then=r"sys>>"),
    _shape("available", "tool", before=r"\[/?", then=r"(?:available_tools|tool_calls?|tool_results?|tool_content)\]"),
    _shape("start", "end", before="<", then=r"\w+_of_turn>"),
    _shape(
        *("tool", "toolcall", "function", "antml", "think", "thinking"),
        before="</?",
        then=r"(?:tool_calls?|toolcall|tool_response|tool_results?|function_calls?|function_results?|antml:\w{1,30}|"
        r"think|thinking)\b[^<>\n]{0,80}>|(?:function|tool)=[\w.-]{1,64}>",
    ),
    _shape("invoke", before="<", then=r"invoke\s{1,4}name="),
    _shape(
        *("system", "important", "instructions", "information", "admin"),
        before="</?",
        then=r"(?:system(?:[-_](?:prompt|reminder|message|instructions?))?|important|important_instructions|instructions|"
        r"information|admin)>",
    ),
    _shape("user", "assistant", before="</", then=r"[a-z]{4,9}>"),
    _shape("untrusted", before=r"<\s{0,4}/?\s{0,4}", then=r"untrusted"),
    _shape("<|", "<｜", then=r"<[|｜]\s{0,2}[\w/▁.:-]{2,40}\s{0,2}[|｜]>"),
)

SHAPES: Final = (*_TAKING_BACK, *_ANOTHER_ROLE, *_TO_THE_READER, *_BEHIND_THE_USER, *_MARKS)
