"""Services that an OpenAPI document describes, as tools.

In the order in which to read: `documents` (places in them, and references), `operations` (what there is), `parameters`,
`bodies` and `schemas` (what one takes), `plans` (all of that together), `requests` (one request; `styles` and `forms`
write values), `security`, `client` and `responses` (the way out and back), `calls` and `toolset`. All but `client`,
`tokens`, `fetching` and `calls` is pure. Above: `connect`, which hands out `openapi`; below: `run.results`, `tools`.
"""
