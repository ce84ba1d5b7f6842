"""What always runs: routing, queueing, running agents, sending, recovering.

Imports `commands` and below; it meets channels, runners and boxes only through `contracts.seams`.
"""
