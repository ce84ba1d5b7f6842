"""What is kept of a home, and what is forgotten."""
