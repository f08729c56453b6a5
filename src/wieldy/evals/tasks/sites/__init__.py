"""Web sites as environments: a site of one's own, served on this machine for each trial, and a browser of text.

Read in this order: `pages` (what a page says and what can be done on it), `reading` (HTML as such a page), `browser`
(going from page to page), `site` (the environment of a task).
"""

from wieldy.evals.tasks.sites.site import Request, Response, Site

__all__ = ["Request", "Response", "Site"]
