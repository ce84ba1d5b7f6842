"""What runs inside a container, as far as it needs no disk."""
