"""Settings from real files and a given environment; directories of a home."""
