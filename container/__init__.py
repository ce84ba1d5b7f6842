"""What runs inside a container: the agent runner, its drivers and its tools.

`agent_runner` reads the input and says ready, `turn_loop` owns one turn at a time (`open_turn` its
acknowledgements), `inputs` is the directory of follow-ups, heard of by `directory_watch`, `messages` what a
prompt is made of, `questions` wait for people's answers. `output` is what is printed, and `stdout` keeps that
to us alone. `box_client` asks the host for things, `tools` are the requests that a model is offered
(`tool_inputs` what they take, `tool_answers` what it is told, `spawn_waits` and `spawn_answers` the same for
agents that it starts), and `mcp_server`, with `mcp_protocol`, is the process that offers them. `forwarder`
carries connections to the way out; `places` says where things lie in here, `clock` what time it is.
`drivers` turn a prompt into behaviour.
It imports only `contracts.wire`, `contracts.ids` and `contracts.errors` of the orchestrator.
"""
