"""The moving parts of the engine, each with a real store."""
