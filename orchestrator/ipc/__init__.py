"""The boxes: watching them, reading requests safely, writing replies and inputs.

`watcher` hears of news (by `hints`, of `inotify_hints` or `watchfiles_hints`, and by polling) and tells
`intake`, which takes boxes in turn (`lane` is one box's queue and rate, `choosing` says whose turn it is). A
file goes through `taking`, `reading` and `parse` to `submitter`, which has the command done, whose
`conclusions` `answering` writes and clears away; what is refused goes to `quarantine`. While many come `bulk`
does these steps of several batches at once, and what they ask of the disk (`file_work`, with `box_files`) the
`file_worker` gives to the `clerk`, a process of ours (`clerk_process` and `clerk_line` on our side,
`removals` on its own). `emptying` takes what is left at a pair or after a death; `acks` is what an agent has
acknowledged. `box` is the directory, `box_writer` our hand in it, `boxes` the keeper of them all, `upkeep`
its cleaner; all of them do what blocks on `threads` of their own. Imports `commands` and below.
"""
