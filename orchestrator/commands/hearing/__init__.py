"""What comes from a chat: taken in, counted as something, kept.

`receiving` takes a message in, `judging` says what it counts as, by the `sender_rules`; `inbound_files` keeps
its files (`late_files` those that come later, `transcripts` what was spoken), `changes` is its later edit,
`message_ids` are whose. Words to Dovecote are done by `words`, with the texts of `chat_texts`; `words_kept`
sees that they are, also after a crash.
"""
