"""What the orchestrator remembers and passes around: frozen values and their status words.

Of chats: `groups` are those registered, `messages` what came in and what goes out, `senders` who may set the
assistant off, `words` what people say to Dovecote itself, `channels` how a network stands. Of agents:
`providers` are read and make `definitions`, which name `tool_servers`; `launch` is how a run is started, and
`egress` its one way out; `agents` are the runs and their turns, `spawns` what some were started with,
`dir_sizes` what their files take, `usage` what they cost. `tasks` are scheduled prompts. `rights` say whose
wish something is, `tokens` are credentials, `proposals` are wishes that wait for an operator, `questions`
those that wait for anybody in the chat. `standing` is how all of it is, in numbers.
"""
