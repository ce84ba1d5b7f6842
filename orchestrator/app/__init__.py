"""The one composition root: which channels, runners and clocks there are, and in which order they live.

`running` is a Dovecote from its lock to its shutdown: it makes the `house`, clears and takes over its
`ground`, starts the `activities` that are always at work, and opens the `doors`. `parts` is what a test may
put in the place of a real one; `collector` is for the process that runs it all. Imports everything but
`cli`; only this package names concrete channels, runners and clocks.
"""
