"""The shared words: ids, errors and the wire."""
