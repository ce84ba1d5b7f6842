"""One suite over every kind of hints."""
