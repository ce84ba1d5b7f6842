"""Decisions: values in, values out."""
