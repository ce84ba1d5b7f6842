"""The host process of Dovecote: it routes, watches, schedules, supervises and remembers."""
