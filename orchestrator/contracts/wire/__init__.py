"""What crosses the wall of a container: standard input and output, and the files of a box."""
