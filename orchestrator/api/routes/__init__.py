"""One module for each area of routes."""
