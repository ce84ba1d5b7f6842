"""The aggregates of the store, on real SQLite files."""
