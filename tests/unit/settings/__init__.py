"""The tree of settings, without a disk."""
