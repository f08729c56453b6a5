"""The Model Context Protocol: servers of tools, used as tools of ours.

`config` and `names` say which servers there are and what their tools are called; `client` reaches them. The SDK is
imported when the first connection is made. Above: `agent` and `apps`; below: `run`, `tools`, `schema`.
"""
