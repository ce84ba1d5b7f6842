"""Chat rules, in the order in which a message meets them.

`echoes` says whether it is our own, `senders` who it is from (`identities`: under which ids), `slash_words`
whether it speaks to Dovecote itself, `answers` which question it answers, `trigger` whether it wakes the
assistant, `bounds` whether too often. `batch` picks what a turn is given, `transcript` is how an agent reads
it, `mentions` puts names for ids. `changes` is what a later edit does, `death` what an agent's end means for
what it was given. `folder_names` calls a new group's folder. On the way out `splitting` cuts long texts;
`attachments` are files, both ways (`late_files` those that come late, `voice` what was spoken).
"""
