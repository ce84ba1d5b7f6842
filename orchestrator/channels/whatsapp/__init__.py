"""WhatsApp as a chat network: a supervised child process holds the library, the parent only reads its lines.

In the orchestrator: `channel` is the network as a `Channel`, `bridge` keeps one child running, `process` is
that child, `conversation` what is said with it and `lines` in which words, through a `port`; `fetching`
brings the files of what was heard; `patience` is how long it may be without a link. `pace` is how fast texts
leave; `formatting` (with `tables`) turns Markdown into WhatsApp's notation; `session` looks whether an
account is linked, `linked_since` since when.
`install_hint` is said where the library is missing.
In the child: `child` receives and sends (`handing_over`) by `library`, which alone loads neonize; what came
is in the `spool` until the orchestrator has stored it, is said by the `pump`, and is handed on by `lanes`, a
chat at a time. `reading` makes lines of it: `translate` of the library's objects, once `mending` has made
their texts readable and `unwrapping` has found the message within; `content` puts it in words
(`content_words`, `offers`, `payments`, `additions`, `machine_answers`, `vcard`), `ties` says what it is to
other messages, `media` which file it has (`albums` which belong together),
`downloads` fetches it, `group_news` what a group is and what happens to it, `jids` whose ids they are.
`file_messages` are files that go out (`opus` the spoken ones), `fates` what became of a failed send,
`verdicts` what became of the link.
Nothing that the orchestrator itself loads imports neonize.
"""
