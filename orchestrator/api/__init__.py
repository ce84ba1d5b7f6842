"""HTTP on the Unix socket and on loopback: a thin face over the command layer.

`server` serves in our own event loop, behind its `listeners`; `application` puts the routes together
(`routes`, one module an area) and the tool servers (`toolsets`). On its way in a request meets the `gate`,
which turns foreign pages away,
`body_limit`, `closing`, which refuses once the orchestrator stops, and `credentials`, which makes a caller of
its `bearer`: the `operator_token` or an API key; `rates` bounds how often. An error goes out by
`render_errors`, or by `denials` before a route is reached; long work ends by `presence` when its client
leaves. A body is JSON whatever it calls itself (`json_bodies`); a spawn is read by `spawn_body`,
`unread_body` lets no other body be passed over, and `unknown_words` names what a route does not take.
`agent_face` answers agents, who come through their own sockets. `chat_watch` is how a client waits for news
of a chat, over HTTP or within the process; `live_events` tells over a WebSocket what happens, by the
`event_socket` in the `event_protocol`. `metrics_page` is the text of `/metrics`. Imports `commands` and
below.
"""
