"""The driver `acp` with programs that speak the protocol, or something else, in real processes."""
