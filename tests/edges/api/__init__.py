"""The HTTP API on a real Unix socket."""
