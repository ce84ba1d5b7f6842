"""Programs that are taken for ACP agents and are none, or none that keeps the protocol's rules."""
