"""All settings: the tree of them, and where their values come from.

`tree` is everything that can be set, a `section` a component (`whatsapp` is that of its channel, `api` of the
doors for programs, `events` of what is kept of agents' lives, `spawn` of agents that agents start, `voice` of
what is spoken, `programs` of those that agents are); `loading` reads the file and, over it, the environment,
`writing` sets a switch in the file. `sender_rules` is the form of a group's `senders.toml`. Imports
`contracts`. No other package reads a setting from the environment.
"""
