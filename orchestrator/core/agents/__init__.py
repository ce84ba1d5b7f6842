"""What a group's agent is, from the operator's files to the value that a runner renders.

`front_matter` splits a text from its fields, `forms` tells what is wrong in what people fill in, and
`agent_file` reads an `AGENT.md` by both; `provider_file` reads providers by `provider_form`. `definition`
lays them over each other. Of a definition `launch_plan` makes walls and places, `environment` the variables
(with the provider's `recipes`), `role` and `start_prompt` what the program is told first. `credentials` says
where secrets are kept, `budget` what calls cost, `provider_trouble` whether an agent failed or its provider
did.
"""
