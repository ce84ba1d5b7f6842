"""What always runs: routing, queueing, running agents, sending, recovering.

`router` asks the store which chats want a turn, `group_queue` decides who runs now. One agent is an
`agent_run`: `run_state` is what its parts share, `run_clock` and `run_minder` its time limits,
`follow_ups` what it is given later, `turn_collector` (or `legacy_collector`) what it says, `run_end`
its burial; `agent_launch` is what it is started with, `agent_log` what it prints beside its answers.
`outbox_sender` sends; `housekeeping` prunes, `disk_floor` keeps room; `activities` owns all of this,
`wakeups` are its signals; `shielding` and `persistence` are how an end is reached all the same.
`recovery` settles at a start what an earlier process left.
Imports `commands` and below; it meets channels, runners and boxes only through `contracts.seams`.
"""
