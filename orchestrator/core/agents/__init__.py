"""Agent rules: how a run is launched and with which environment."""
