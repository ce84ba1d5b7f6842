"""Chat rules."""
