"""What crosses the wall of a container: standard input and output, and the files of a box.

`codec` turns values into JSON and back. `container_io` is the input and the events, `framing` the marker
lines around what an agent says. `boxes` is which directories and files a box has; `chat_requests`,
`task_requests`, `group_requests` and `agent_requests` are what may be asked there, one module an area, and
`replies` the answers. `tools` is a request as a model is offered it. `agent_words` is how an agent stands,
for people, `field_names` what is said of a field that nobody knows, `argv` what a command needs to be there.
"""
