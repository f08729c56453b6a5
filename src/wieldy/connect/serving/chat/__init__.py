"""A model as a server of the chat-completions protocol, whose tool calls are right.

Read `requests` (what a client asks, with `offered` and `options`), `vetting` (whether a reply is what may leave),
`answering` (asking the model, again where it is not), `answers` (the JSON), and last `completion` and `application`
(HTTP). Deliberately not here: the same protocol from the other side, where Wieldy is the client (`connect.models`).
"""
