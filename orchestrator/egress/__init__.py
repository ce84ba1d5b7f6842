"""The containers' way out: one Unix socket an agent, and what is let through it.

`proxy` opens and closes the doors, `door` is one agent's connections and their limits, `socket_directory`
what its container sees; `agent_side` speaks HTTP with the agent's program. `provider_calls` judges its
requests (`request_body` what they say), `provider_exchange` passes them on and counts the answers, by
`upstream`, which adds the credential, and `provider_connection`. `tunnels` serves `CONNECT`,
`agent_calls` what is asked of the orchestrator itself, `agent_sockets` the WebSockets of it. `route` turns
a name into addresses that may be connected to, `look_up` asks the system for them; `byte_room` bounds what
is held in memory. Every yes and no is decided in `core/sandbox`. Imports `contracts` and `core`.
Source: agents.md section 5.
"""
