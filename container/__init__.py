"""What runs inside a container: the agent runner, its drivers and its tools.

`agent_runner` reads the input and says ready, `turn_loop` owns one turn at a time (`open_turn` its
acknowledgements), `inputs` is the directory of follow-ups, `output` what is printed, `box_client` asks
the host for things, `tools` the requests that a model is offered, and `mcp_server`, with `mcp_protocol`,
the process that offers them. It imports only `contracts.wire`, `contracts.ids` and `contracts.errors` of
the orchestrator.
"""
