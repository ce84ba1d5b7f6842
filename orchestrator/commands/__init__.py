"""Every operation, once: plain functions of a transaction, a context and a typed request.

`chat` takes messages in and agents' texts out, `operator_words` does `/stop` and `/retry`, `groups`
registers chats. `batches` is what a turn is given, `turns` how it begins and ends (`legacy_turns` for
agents that know no events), `burial` what a dead agent leaves. `outgoing` puts a text into the outbox,
`delivery` decides its fate. `execute` is the one way in for a box's request, `catalog` its list.
`services` is what all may use, `views` what people look at. Imports `core`, `store` and `contracts`.
"""
