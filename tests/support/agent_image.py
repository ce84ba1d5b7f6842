"""The agent image that tests run: the one of this very checkout's files."""

from typing import Final

from orchestrator.runners.image import own_image

IMAGE: Final = own_image()
"""Its name. Files that change under a running test give another image, which that test does not see."""
