"""Every operation, once: plain functions of a transaction, a context and a typed request.

What a box asks for comes in by `execute`: `command` is what a command is, `catalog` the list of them, from
`sending`, `tasks` and `group_requests`. What the operator asks for comes by `operator_requests`, under the
same authority. `services` is what all may use.
Heard: `chat` takes a message in, `hearing` says what it counts as, by the `sender_rules` (`sender_book` keeps
the last good ones); `contacts` knows who is who, `inbound_files` keeps its files, `changes` is its later
edit.
Words to Dovecote are done by `operator_words`, `said_words` sees that they are, also after a crash;
`word_answers` is what is answered, `chat_texts` what it shows.
Run: `waiting` is who wants an agent now, `batches` what a turn is given, `turns` how it begins and ends
(`legacy_turns` for agents that know no events), `task_runs` the same for a task's run, `burial` what a dead
agent leaves. `definitions` is what a group's agent is, `snapshots` what it may know, `questions` what it asks
of people.
Said: `outgoing` puts a text into the outbox, `delivery` decides its fate, `attachments` are its files.
Asked of operators: `proposals` asks for a yes, `decisions` does what they say; `operator_alerts` and
`channel_health` tell what they should not miss. Counted: `usage_meter` what providers are used for,
`budget_notes` and `budgets` what is told when money or room runs out.
For people who look and set up: `views`, `usage_report`, `agent_checks`; `groups` registers chats, `secrets`
and `provider_login` take credentials. Imports `core`, `store` and `contracts`.
"""
