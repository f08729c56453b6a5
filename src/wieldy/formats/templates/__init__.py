"""The models' own chat templates: rendering with them, what they lose, and which format they write.

A template is a program that came with the weights. The sandbox keeps it from Python and from the machine, but nothing
here limits how long it runs or how much memory it fills: `{{ 'a' * 10**10 }}` is a template. Compiling one may already
compute. So whoever makes a `ChatTemplate` of, or calls `detect` with, a template that is not trusted does so in a
process of its own, with limits on processor time, address space and elapsed time, as `wieldy formats detect` does. A
`MemoryError` there is passed on as it is.
"""

from wieldy.formats.templates.template import ChatTemplate

__all__ = ["ChatTemplate"]
