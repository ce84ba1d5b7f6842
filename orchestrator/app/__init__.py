"""The one composition root: what a Dovecote is made of, and in which order its parts live.

`running` is a Dovecote from its lock to its shutdown: it makes the `house`, clears and takes over its
`ground`, does the `starting` of what is always at work, and opens the `doors`. `parts` is what a test may
put in the place of a real one; `garbage` is for the process that runs it all. Imports everything but `cli`.
Which channels and runners there are say the catalogs of their packages.
"""
