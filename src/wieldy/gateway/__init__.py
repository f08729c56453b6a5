"""One place in front of many services: their tools behind one MCP endpoint and one HTTP endpoint.

Whoever calls has a key and sees their own catalogue; the credentials of the services live here only; a definition that
nobody has accepted is not callable; every call is a run with its principal. Read `config` (what there is), `catalogue`
(what is offered under which name), `pins` (what was accepted), `gateway` (a call), `application` (the endpoints).
Above: `apps`; below: `connect`, `run` and `tools`. It knows no model.
"""
