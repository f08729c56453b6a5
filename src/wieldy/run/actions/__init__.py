"""Acting in text: any chat model in the same loop as those that have tool calls of their own.

`TextActions` is a model around a model. The loop sees calls and results; the inner model sees a conversation in words:
the tools are described to it, its calls are text, and results are told to it. How that text looks is a `ChatFormat`'s
business, such as `react` or `json`; nothing about it is known here. The order in which to read: `retelling` (history to
text), `reading` (text to calls), `demands` (what the model is told besides), `text` (the model).
"""

from wieldy.run.actions.text import TextActions

__all__ = ["TextActions"]
