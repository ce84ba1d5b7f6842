"""What the tests of the rig share."""

from tests.journeys.conftest import open_path as open_path
