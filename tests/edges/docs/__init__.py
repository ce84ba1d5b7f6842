"""The documents, held against the tree."""
