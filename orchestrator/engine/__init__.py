"""What always runs: routing, queueing, running agents, sending, recovering.

`router` asks the store which chats want a turn, `group_queue` which of them runs now, among the
`running_agents`; `work` is what one is started for, `child_work` what one that was spawned is. One agent is
an `agent_run`: `run_state` is what its parts share, `run_clock` and `run_minder` its time limits
(`start_limit` that of its start), `follow_ups` what it is given later, `questions` what it asks of people,
`snapshots` what it may know of tasks and groups, `turn_collector` (or `legacy_collector`) what it says,
`pair_keeping` where that goes, `run_end` its burial. By `run_launch` it is started, with what `agent_launch`
gives it (`child_places` where a spawned one works), in a home of `session_homes`; `program_launch` what its
definition adds, `identity` who it is to the host, `way_out` its way to its provider and to us; `agent_log` is
what it prints beside its answers, `log_events` what of that others may listen to, `output_rate` how fast.
`outbox_sender` sends through the `channel_set`; `chat_directory` keeps which chats there are;
`operator_alerts` tells operators, `alarm` rings when a task is due; `housekeeping` prunes, `token_keeper`
renews tokens; `disk_floor` and `room_watch` keep room on the disk; `size_watch` holds agents' files to their
budgets, `size_ledger` is what it saw. `event_feed` hands out events. `activities` owns all that, `wakeups`
are its signals; `shielding` and `persistence` are how an end is reached all the same.
`supervisor` looks after spawned agents beside their runs, `agent_stops` stops single ones, `old_workspaces`
removes what they left. `adoption` goes on with those that outlived an earlier process.
`recovery` settles at a start what an earlier process left; `left_words` does the words that it had not done.
Imports `commands` and below; it meets channels, runners and boxes only through `contracts.seams`.
"""
