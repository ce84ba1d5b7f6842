"""What an agent's walls let through: decided from values, acted on by runners and the way out.

`mount_rules` is which directories of the host may be shown. Of the network, `egress_rules` says where
connections may lead, `request_rules` which calls of its provider pass, and in which shape; `provider_bodies`
which of their bodies reach elsewhere, read as `strict_json`. A no is a `refusal`, put in the provider's own
shape by `provider_errors`. `usage_reading` counts what an answer says it used.
"""
