"""Is gone before it has said anything."""

import sys

sys.stderr.write("no such library\n")
sys.exit(3)
