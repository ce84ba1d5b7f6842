"""The table of requests in `docs/contracts.md` section 4 lacks no request, and names its directory."""

import re
from pathlib import Path
from typing import Final

import pytest

from orchestrator.contracts.wire.codec import Wire
from orchestrator.ipc.parse import REQUEST_AREAS

CONTRACTS: Final = Path(__file__).resolve().parents[3] / "docs" / "contracts.md"
ALL_TYPES: Final = [each for area in REQUEST_AREAS for each in area]


def directories() -> dict[str, str]:
    """The directory of each type, by the rows of the table."""
    text = CONTRACTS.read_text(encoding="utf-8")
    section = text.partition("\n## 4. Requests\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| ")]
    return {name: row[0].strip() for row in rows for name in re.findall(r"`([a-z_]+)`", row[1])}


@pytest.mark.parametrize("request_type", ALL_TYPES, ids=lambda each: each.__name__)
def test_each_request_type_has_its_place_in_the_table(request_type: type[Wire]) -> None:
    described = vars(request_type)

    assert directories().get(described["type_name"]) == described["directory"]


def test_the_table_describes_no_request_that_there_is_not() -> None:
    assert set(directories()) == {vars(each)["type_name"] for each in ALL_TYPES}
