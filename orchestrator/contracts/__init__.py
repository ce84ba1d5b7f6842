"""The words all parts of Dovecote share: ids, errors, records, wire forms and Protocols.

Imports only the standard library, so that the container can load the parts it needs at no cost.
"""
