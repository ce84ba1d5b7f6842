"""All settings: the tree of them, and where their values come from.

Imports `contracts`. No other package reads the environment.
"""
