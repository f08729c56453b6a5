"""Tools for clients elsewhere: what a call of theirs goes through, who may make it, the tools as an HTTP service.

Above: `connect.mcp.server` and `gateway`; below: `run` and `tools`. Importing this package imports no web framework.
"""
