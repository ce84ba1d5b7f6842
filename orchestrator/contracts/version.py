"""Which Dovecote this is. A constant: asking the installed package would cost each start 20 ms."""

from typing import Final

VERSION: Final = "0.1.0"
IMAGE: Final = f"dovecote-agent:{VERSION}"
"""The agent image of this version that was built last; a checkout runs the one of its own files."""
