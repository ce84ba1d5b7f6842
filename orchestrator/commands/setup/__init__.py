"""What operators prepare: `definitions` is what a group's agent is (`agent_checks` what is wrong with
it), `secrets` and `provider_login` take credentials, `api_keys` gives some out."""
