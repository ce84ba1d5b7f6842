"""What always runs: routing, queueing, running agents, sending, recovering.

`router` asks the store which chats want a turn, `group_queue` decides who runs now; `work` is what an agent
is started for. One agent is an `agent_run`: `run_state` is what its parts share, `run_clock` and `run_minder`
its time limits (`start_limit` that of its start), `follow_ups` what it is given later, `questions` what it
asks of people, `snapshots` what it may know of tasks and groups, `turn_collector` (or `legacy_collector`)
what it says, `run_end` its burial. `agent_launch` is what it is started with, `program_launch` what its
definition adds, `identity` who it is to the host, `way_out` its way to its provider; `agent_log` is what it
prints beside its answers, `output_rate` how fast.
`outbox_sender` sends through the `channel_set`; `chat_directory` keeps which chats there are;
`operator_alerts` tells operators, `alarm` rings when a task is due; `housekeeping` prunes; `disk_floor` and
`room_watch` keep room on the disk; `tree_watch` holds agents' files to their budgets, `tree_ledger` is what
it saw. `activities` owns all that, `wakeups` are its signals; `shielding` and `persistence` are how an end is
reached all the same.
`recovery` settles at a start what an earlier process left; `left_words` does the words that it had not done.
Imports `commands` and below; it meets channels, runners and boxes only through `contracts.seams`.
"""
