"""What survives a kill: the SQLite store, group folders, and the one way onto hostile ground.

`database` is the one writer and the readers, `opening`, `migrate` and `instance_lock` come before it.
One module holds each aggregate, its SQL beside the functions that run it: `messages`, `outbox`,
`groups`, `chats`, `agents`, `requests`, `sessions`, `notices`, `facts`. `safe_dir` (with `entry`,
`unsafe`, `tree_removal`) reads and writes where containers can write; `group_folders` and
`group_files` are the folders of groups. Imports only `contracts`; it is given values, never settings.
"""
