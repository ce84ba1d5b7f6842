"""What is kept of a home, and what is not: `backups` copies it, `restoring` puts a copy back, `forgetting`
removes a person or a group for good, `retention` says how long rows are kept otherwise, `service_units` let
systemd keep the orchestrator running.
"""
