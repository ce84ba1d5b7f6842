"""The host process of Dovecote: it routes, watches, schedules, supervises and remembers.

`app` puts the whole together and starts it. `paths` is where an installation keeps
things, `shipped` what comes with it. The packages and the direction of their imports: CONTRIBUTING.md.
"""
