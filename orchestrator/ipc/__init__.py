"""The boxes: watching them, reading requests safely, writing replies and inputs.

Imports `commands` and below.
"""
