"""Which Dovecote this is. A constant: asking the installed package would cost each start 20 ms."""

from typing import Final

VERSION: Final = "0.1.0"
IMAGE: Final = f"dovecote-agent:{VERSION}"
"""The agent image that this version builds and runs."""
