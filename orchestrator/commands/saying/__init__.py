"""What goes to people: texts, questions, alerts, and what becomes of them.

`sending` is the command of it; `outgoing` puts a text into the outbox, `attachments` are its files,
`delivery` decides its fate. `questions` asks people on an agent's behalf,
`word_answers` answers words. `operator_alerts` and `channel_health` tell operators what they should not
miss.
"""
