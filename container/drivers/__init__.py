"""What turns a prompt into agent behaviour. Each driver is loaded by name, only when it is used.

`driver` is what the agent runner asks of one, and where it is found. For all: `addressing` says which
messages want an answer, `prompt_text` is how a model reads them, `leave` asks people for leave. For those
that run a program: `tool_servers` is what it is given, `provider_errors` what a refusal means,
`program_patience` how long it may take to answer, `session_words` what we say ourselves, `workspace_files`
the files it may open, `started_processes` what it may leave behind.
`builtin_driver` needs no model: `builtin_words` understands plain sentences, `asking_back` keeps what it
asked itself; `notes_file` with `notes_answers`, `file_list` and `file_sending` do what they want of files;
`child_answers` have helpers, shown by `tree_lines`, and `counting` gives them something to do; `reminders`
are tasks, with `reminder_words`, `time_words` and `time_meaning` to understand them and `reminder_answers`
to answer; `shown_text` quotes others.
`script_driver` plays a `scenario`. `claude_driver` runs the Claude Agent SDK, which only `claude_client`
knows (the rest of it: `claude_*`). `acp_driver` runs any program that speaks the Agent Client Protocol
(`acp_*`), and `pi_home` lays what `pi` reads by files only.
"""
