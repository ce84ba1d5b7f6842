"""One transition table for each thing that has a status; nothing else decides a status."""
