"""The pure parts of the engine."""
