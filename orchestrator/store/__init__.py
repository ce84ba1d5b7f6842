"""What survives a kill: the SQLite store, group folders, and the one way onto hostile ground.

`database` is the one writer and the readers, `transaction` (with `gathered`) what its bodies write by,
`views` the slow ones; `instance_lock`, `opening` and `migrate` come before it, `failures` tells a sick disk
from a wrong statement, `times` is how instants are kept, `slices` how old rows go. One module holds each
aggregate, its SQL beside the functions that run it. Of chats: `groups`, `chats`, `members`, `contacts` (who
is who), `messages` with `message_edits` and `message_views`, `bounds` (what is counted), `waiting_words`
(said to Dovecote, not done yet), `outbox`, `notices` (what is told once). Of agents: `agents`, `sessions`,
`trees` (with `lineage`), `spawns` (with `spawn_places`, `restarts`), `agent_pruning`, `waits`, `requests`,
`turn_overlaps`, `questions`, `proposals`, `usage`, `tokens`, `event_log` (what happened to them),
`agent_activity` (what they do now), `spawn_texts` (what spawned ones said), `line_counts` (how much all
printed besides), `refused_spawns`; of programs: `api_keys`, `workspace_roots`; of schedules: `tasks`,
`task_runs`; of the whole: `facts`, `alerts`, `standing` (what is counted of all). On disk: `safe_dir` (with
`entry`, `unsafe`, `dir_removal`, `dir_size`, `spreading`) reads and writes where containers can;
`group_folders` and `group_files` are the folders of groups, `home_files` what we put into an agent's session
home, `own_homes` those of single agents, `writable_paths` what a spawned one may write, `dir_compare` what
it did, `mount_sources` directories that operators show to agents. `safe_copy` copies a file, `spool` holds
those that wait to be sent (`outbox_files` says for which rows), `inbox` those that came; `refusals` reads
what was refused of boxes. Credentials are found by `secret_values`, in the environment, by `keyring_entries`
or in `secret_files`; `key_ring` signs the tokens in `token_files`, `private_files` writes what is nobody
else's. Copies of a home are made by `backup_writing` and read by `backup_reading`, as `backup_manifest`
says; `backup_list` knows where they lie; `unfinished_restore` is the note of one that was not put back
whole. `forgetting` removes the rows of a person or a group, `forgotten_files` what lies on the disk.
Imports only `contracts`; it is given values, never settings.
"""
