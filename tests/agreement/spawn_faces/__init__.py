"""One suite for every way in which an agent is asked for: what comes of it is the same."""
