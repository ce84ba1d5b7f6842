"""HTTP on the Unix socket: a thin face over the command layer.

`server` listens in our own event loop, `application` puts the routes together (`routes`, one module an area).
On its way in a request meets `closing`, which refuses once the orchestrator stops, `body_limit`, and
`credentials`, which makes a caller of its bearer; an error goes out by `render_errors`. `chat_watch` is how a
client waits for news of a chat, over HTTP or within the process. Imports `commands` and below.
"""
