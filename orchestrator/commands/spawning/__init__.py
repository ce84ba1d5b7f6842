"""Agents that agents make.

`spawning` reserves one, by its `spawn_wishes` at its `spawn_places`, if the `spawn_rules` let it
(`spawn_refusals` if not). `spawn_calls` stays for what comes of one, `spawn_replies` tells its parent,
`spawn_ends` is what an end means for its tree, `spawn_rendering` writes what came of
a stop as programs read it. `workspaces` are what agents may be given.
"""
