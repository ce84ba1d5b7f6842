"""Decisions: values in, values out. No clock, no disk, no network, no log.

Imports only `contracts`.
"""
