"""The real WhatsApp child, killed at any time under a stream in both directions: a share of the storm."""

from pathlib import Path

import pytest

from tests.edges.whatsapp.storm import Storm, weather


@pytest.mark.slow
async def test_killed_at_random_under_a_stream_nothing_is_lost_or_doubled_unseen(tmp_path: Path) -> None:
    pytest.importorskip("magic", exc_type=ImportError)
    storm = Storm(kills=5, inbound=300, outbound=120, spread_s=4, seed=1)

    totals = await weather(storm, tmp_path / "far")

    assert totals["children"] > storm.kills
