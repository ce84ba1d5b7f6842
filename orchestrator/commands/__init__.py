"""Every operation, once: plain functions of a transaction, a context and a typed request.

What a box asks for comes in by `execute`: `command` is what a command is, `catalog` the list of them, from
`sending`, `tasks` (shown by `task_views`), `group_requests`, `spawning`, `lineage`, `stopping` and
`progress`. What the operator asks for comes by `operator_requests`, under the same authority. `services` is
what all may use.
Heard: `chat` takes a message in, `hearing` says what it counts as, by the `sender_rules` (`sender_book` keeps
the last good ones); `contacts` knows who is who, `inbound_files` keeps its files (`late_files` those that
come later, `transcripts` what was spoken), `changes` is its later edit, `message_ids` are whose.
Words to Dovecote are done by `operator_words`, `said_words` sees that they are, also after a crash;
`word_answers` is what is answered, `chat_texts` what it shows.
Run: `waiting` is who wants an agent now, `batches` what a turn is given, `turns` how it begins and ends
(`legacy_turns` for agents that know no events), `task_runs` the same for a task's run, `burial` what a dead
agent leaves by its `remains`. Of a spawned one `results` takes the texts, `spawned_burial` puts together what
came of it, `spawn_replies` tells its parent; `reserved` ends those that nobody starts any more.
`definitions` is what a group's agent is, `snapshots` what it may know, `questions` what it asks of people.
Said: `outgoing` puts a text into the outbox, `delivery` decides its fate, `attachments` are its files,
`quoting` says what it quotes.
Asked of operators: `proposals` asks for a yes, `decisions` does what they say; `operator_alerts` and
`channel_health` tell what they should not miss, `programs` runs what they set. Counted: `usage_meter` what
providers are used for, `budget_notes` and `budgets` what is told when money or room runs out.
For people who look and set up: `first_start`, `views`, `usage_report`, `agent_checks`; `groups` registers
chats, `group_chats` knows those that could be, `new_chats` asks about them; `secrets` and `provider_login`
take credentials, `api_keys` gives some out.
What happens to agents is noted by `agent_events`, kept by `event_keeping` and read by `event_views`;
`overview` is all of them at a glance.
Of spawned agents: `spawning` reserves one, by its `spawn_wishes` at its `spawn_places`, if the `spawn_rules`
let it (`spawn_refusals` if not); `agent_sight` says who may see it, `lineage` how it stands, `agent_waits`
waits for it, `progress` how far it is; `stopping` ends it, `spawn_ends` is what that means for its tree.
`tokens` are what they are known by, `workspaces` what they may be given, `spawn_calls` stays for what comes
of one, `spawn_rendering` shows it. Imports `core`, `store` and `contracts`.
"""
