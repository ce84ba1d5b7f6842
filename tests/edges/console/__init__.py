"""The console channel."""
