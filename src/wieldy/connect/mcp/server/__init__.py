"""Tools as a server that speaks the Model Context Protocol, in both eras.

`wire` says what tools and results look like there; `server` serves them. The SDK is imported when a server is made.
Above: `gateway` and `apps`; below: `connect.serving`.
"""
