"""Every operation, once: plain functions of a transaction, a context and a typed request.

Imports `core`, `store` and `contracts`.
"""
