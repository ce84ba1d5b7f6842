"""The log of an agent on a disk that does not take it."""

from pathlib import Path

from orchestrator.engine.agent_log import AgentLogFile


async def test_lines_that_cannot_be_written_end_nothing_and_later_ones_are_kept(tmp_path: Path) -> None:
    in_the_way = tmp_path / "agents"
    in_the_way.write_text("a file where the directory should be")
    log = AgentLogFile(in_the_way / "one.log", max_bytes=1_000_000, keep=1)

    await log.write(["lost"])
    in_the_way.unlink()
    await log.write(["kept"])
    await log.close()

    assert (in_the_way / "one.log").read_text() == "kept\n"


async def test_a_file_that_cannot_be_opened_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "one.log").mkdir()
    log = AgentLogFile(tmp_path / "one.log", max_bytes=1_000_000, keep=1)

    await log.write(["lost"])
    await log.close()

    assert log.tail == ["lost"]
