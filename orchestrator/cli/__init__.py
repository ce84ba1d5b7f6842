"""The command `dovecote`. Each command imports what it needs inside, so that help is quick."""
