"""The agent runner and its parts as real processes with real directories."""
