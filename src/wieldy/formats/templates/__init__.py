"""The models' own chat templates: rendering with them, what they lose, and which format they write."""

from wieldy.formats.templates.template import ChatTemplate

__all__ = ["ChatTemplate"]
