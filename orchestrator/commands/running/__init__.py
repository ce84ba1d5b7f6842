"""The life of a turn and of a task's run, from who waits to what is left.

`waiting` is who wants an agent now, `batches` what a turn is given, `turns` how it begins and ends
(`legacy_turns` for agents that know no events, `quoting` what its texts quote), `task_runs` the same for
a task's run, `holds` what waits for the end of a failure that is not its own. `stopping` ends agents,
`burial` is what a dead one leaves, by its `remains`; of a spawned one `results` takes the texts,
`spawned_burial` puts together what came of it, and `restarts` says whether it is started again;
`lost_helpers` tells a chat of those that died with Dovecote. `reserved` ends those that nobody starts any
more. `running_view` shows what runs and waits.
"""
