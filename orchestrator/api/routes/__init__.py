"""What can be asked for over HTTP, one module an area: parse, call a command, render.

`chats` is writing and reading as a person of the console; `manage` the groups and how the whole is doing;
`tasks` scheduled prompts, and what there is to see of messages and refused requests; `proposals` the wishes
that wait for an operator; `usage` what was used of providers; `spawn` starts agents, `agents` shows and stops
them, `workspaces` says where they may work; `events` tells what happens to them; `api_keys` lets programs in.
`keeping` forgets people and groups; `standing` says how the whole stands, for people and for Prometheus.
`giving_way` is how a chat's own orchestrator leaves the home to a daemon. `health` alone needs no token.
"""
