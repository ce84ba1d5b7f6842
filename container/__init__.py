"""What runs inside a container: the agent runner, its drivers and its tools.

It imports only `contracts.wire`, `contracts.ids` and `contracts.errors` of the orchestrator.
"""
