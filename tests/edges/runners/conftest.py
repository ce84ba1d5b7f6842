"""What the tests of single runners share with the suite that runs over all of them."""

from tests.agreement.runners.conftest import agent_image, programs, stage

__all__ = ["agent_image", "programs", "stage"]
