"""The client's side: a toolset whose tools run on servers.

The order in which to read: `toolset` (what a program gets), `server` (one server: its tools and calls), `supervisor`
(one task that keeps the connection), `sdk` and its two versions, the transports; pure are `tools`, `results`,
`troubles`, `restarts`.
"""
