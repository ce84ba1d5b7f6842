"""What a group's agent is, from the operator's files to the value that a runner renders.

`front_matter` splits a text from its fields, `forms` tells what is wrong in what people fill in, and
`agent_file` reads an `AGENT.md` by both; `provider_file` reads providers by
`provider_form`. `definition` lays them over each other. Of a definition `launch_plan` makes walls and places,
`environment` the variables (with the provider's `recipes`), `role` and `start_prompt` what the program is
told first. `credential_advice` says how a secret is set, `spending` what calls cost, `tokens` by what an
agent is known. Of spawned agents `limits` says how many there may be, `rights` what they may, `spawn_paths`
where they work, `lineage` who came of whom, `waits` who waits for whom; `activity` is what one is doing,
`endings` how a spawned one ended, `restarts` whether it begins again, `provider_trouble` whether an agent
failed or its provider did, `unstartable` what mends one that can't be started.
"""
