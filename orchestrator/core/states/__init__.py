"""One transition table for each thing that has a status; nothing else decides a status.

`machine` is what a table is. `message` and `outbox` are texts in and out, `agent` a run, `task` and
`task_run` scheduled prompts, `proposal` and `question` what waits for a person, `workspace_root` a directory
that agents may be given.
"""
