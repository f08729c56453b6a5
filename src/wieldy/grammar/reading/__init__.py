"""Texts in which people say what may be written, read into shapes: regular expressions, EBNF, GBNF, Lark.

Each module reads one notation and knows no engine; `grammar.notation` prints shapes again. What a notation has and
shapes have not is named in a `GrammarError`.
"""
