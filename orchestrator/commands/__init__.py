"""Every operation, once; those of boxes are functions of a transaction, a context and a typed request.

What a box asks for comes in by `execute`: `command` is what a command is, `catalog` the list of them. What
the operator asks just as a box would comes by `operator_requests`, under the same authority, and
`operator_advice` says what is advised in his words. `recent` shows him what came, went and was refused.
`proposals` asks operators for a yes, `decisions` does what they say. `contacts` knows who is who. `services`
is what all may use, `sender_book` its last good rules of who is heard, `own_programs` runs those that
operators set, `chat_views` shows a chat, `standing` how the whole stands.
By subject: `hearing` takes messages in, `saying` puts texts out and asks people, `running` is the life of
a turn and of a task's run, `tasks` and `groups` keep what their names say, `agents` is what one may see
of agents and what happens to them, `spawning` makes new ones, `setup` is definitions and credentials,
`usage` what is counted and may run out, `keeping` is backups, forgetting and the service. Imports `core`,
`store`, `settings`, `paths`, `shipped` and `contracts`.
"""
