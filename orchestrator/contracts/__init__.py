"""The words all parts of Dovecote share: ids, errors, records, wire forms and Protocols.

`ids` keeps names apart and says which are taken, `callers` is who asks. `errors` is the one family of errors,
`faults` tells several of them at once;
`os_errors` makes them of what the system refuses, `toml_text` of files that people wrote wrongly,
`secret_names` of names no secret can have. `seams` is the Protocols by which the host's parts meet;
those of the way out are in `egress_seams`, of `live_events`, by which `events` reach who listens, and of
`agent_control`, by which agents are stopped. One that a single package needs lies in it.
`records` is what is remembered, `wire` what crosses a container's wall, `version` which Dovecote this is.
Imports only the standard library, so that the container can load the parts it needs at no cost.
"""
