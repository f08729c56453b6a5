r"""Response templates of Hugging Face: a `ChatFormat` written as one, and one read as a `ChatFormat`.

A response template is the key `response_template` of a `tokenizer_config.json`: a JSON object from which transformers
(5.13 and later) makes a parser of replies. Source: transformers 5.24, `utils/chat_parsing` and the page "Response
parsing" of its documentation.

What it can say:

* `fields`: the members of the message, each a stretch of the reply between what opens and what closes it (`open`,
  `close`: texts; `open_pattern`, `close_pattern`: regular expressions). One field may have no opening: it gets what
  stands in none of the others, or that text is dropped. Inside a field only its own closing is looked for.
* `repeats` makes a list of the stretches, `join` one text; without them the last stretch replaces those before it.
* `content`: how a stretch is read: `text`, `json` (names without quotes and strings within marks of their own, if
  `content_args` say so), `xml-inline` (an expression with the groups `key` and `value`), `python-call-list`, ...
* `transform`: what becomes of it, with named groups of the expressions filled in. There is no other computing.
* `start_anchor`: what stands in a prompt before the reply; what the prompt has behind it is read first.

What it cannot say, and so neither can what is written here: a closing mark within a string ends the call all the same;
types are the wire's or, for raw text, those of the tools that are passed to the parser, even if the wire has marks for
them; a reply whose reasoning was opened in a prompt that is not passed is text; no elements within elements, no calls
that only the name of a known tool tells from text, nothing about conversations. Calls whose JSON is broken raise an
error there, and raw arguments that were cut off are calls.

Deliberately not here: reading replies. Data in, data out; transformers is not needed.
"""

from wieldy.formats.response_templates.reading import from_response_template
from wieldy.formats.response_templates.writing import to_response_template

__all__ = ["from_response_template", "to_response_template"]
