"""The command `dovecote`: a face over the command layer, in a terminal.

`main` is its words; `agent_app`, `api_key_app`, `image_app`, `proposal_app`, `provider_app`, `secret_app`,
`task_app`, `whatsapp_app`, `workspace_app` and `keeping_app` are those of its parts, `options` what many
share. Each command imports what it needs inside, so that help is quick. A command works in a `home`, at a
`place`: through the running orchestrator by `client`, else on the store by `store_services`.
`serve` runs the daemon, which by `taking_over` gets the home of a chat's own orchestrator; `stop_signals` end
it, `ended` says how; `logging_setup` and `log_repeats` are its log.
`chat` is a conversation, by `chat_terminal` or, without a terminal, by `chat_lines`; both speak by a
`console_link`, a `steady_link` when orchestrators may go and come. `stdin_lines` is what is typed,
`chat_words` what the chat itself does and says, `chat_holds` what its messages wait for, `addressing` how the
assistant is called, `sent_file` how a file is shown, `last_seen` up to where somebody has looked.
`groups`, `tasks`, `proposals`, `api_keys`, `usage`, `secrets`, `provider_login`, `config`, `workspaces`,
`image` (with `build_for` and `image_prune`), `events` (in `event_lines`), `whatsapp` and `whatsapp_link`
(with `whatsapp_settling` behind a link, and `whatsapp_numbers`) are the commands of these names; `seen` is
`messages` and `errors`, `mcp_bridge` is `mcp`, `definition_lists` is `agent check` and `provider list`;
`agent_trees` and `top` show agents in `tree_lines`, `status` all that is, in `status_lines`;
`backups`, `forgetting` and `service` do what `keeping_app` says; `reference` draws the README's tables.
`doctor` gives `findings`, made by `place_checks`, `secret_checks`, `running_checks` (of the orchestrator
that runs), `store_checks`, `name_checks`, `standing_checks` (with `queue_checks`: what waits),
`runner_checks`, `container_checks`, `own_program_checks`, `channel_checks`, `door_checks`,
`refusal_checks`, `service_checks`, `workspace_checks`, `provider_checks` and `agent_checks`;
`provider_trial` and `image_check` take longer.
`output` and `table` print, `labels` is fields as people read them.
"""
