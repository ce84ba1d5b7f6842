"""The boxes: watching them, reading requests safely, writing replies and inputs.

`watcher` hears of news (by `hints`, of `inotify_hints` or `watchfiles_hints`, and by polling) and tells
`intake`, which takes boxes in turn (`lane` is one box's queue and rate). A file goes through `reading` and
`parse` to `submitter`, which has the command done, and `outcome`, which answers and removes it; what is
refused goes to `quarantine`. `emptying` takes what is left at a pair or after a death; `acks` is what an
agent has acknowledged. `box` is the directory, `box_writer` our hand in it, `boxes` the keeper of them all,
`upkeep` its cleaner; all of them do what blocks on `threads` of their own. Imports `commands` and below.
"""
