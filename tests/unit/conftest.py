"""Unit tests touch no disk: found examples become table cases instead of files."""

from hypothesis import settings

settings.register_profile("unit", database=None, deadline=None)
settings.load_profile("unit")
