"""One module a wire format: what its requests ask, and its answers, errors and streams."""
