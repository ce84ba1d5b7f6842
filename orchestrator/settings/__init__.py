"""All settings: the tree of them, and where their values come from.

`tree` is everything that can be set, a `section` a component (`whatsapp` is that of its channel); `loading`
reads file, environment and command line, each over the one before. `sender_rules` is the form of a group's
`senders.toml`. Imports `contracts`. No other package reads the environment.
"""
