"""What survives a kill: the SQLite store, group folders, and the one way onto hostile ground.

Imports only `contracts`; it is given values, never the settings.
"""
