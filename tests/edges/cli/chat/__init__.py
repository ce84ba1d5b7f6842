"""The command `dovecote` as a process, and what its commands are made of."""
