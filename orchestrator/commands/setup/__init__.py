"""What operators prepare: `definitions` is what a group's agent is (`definition_faults` what is wrong with
it), `secrets` and `provider_login` take credentials, `api_keys` gives some out."""
