"""The next times of cron schedules, case by case."""

import re
from datetime import UTC
from itertools import islice

import pytest
from cronsim import CronSim

from orchestrator.contracts.records.tasks import ScheduleKind
from orchestrator.core.tasks.schedule import next_run, read_schedule
from tests.unit.core.tasks.case_table import Case, cases_of
from tests.unit.core.tasks.clock_change_cases import CLOCK_CHANGES
from tests.unit.core.tasks.grid_cases import GRID

CASES = [*cases_of(GRID), *cases_of(CLOCK_CHANGES)]
every_case = pytest.mark.parametrize("case", CASES, ids=[case.test_id for case in CASES])
cases_of_cronsim = [case for case in CASES if case.source == "cronsim"]


@every_case
def test_a_cron_schedule_is_due_when_its_source_says(case: Case) -> None:
    schedule = read_schedule(ScheduleKind.CRON, case.cron, zone=case.zone)

    found, after = [], case.after
    for _ in case.runs:
        run = next_run(schedule, after=after)
        assert run is not None
        found.append(run)
        after = run

    assert found == [run.astimezone(UTC) for run in case.runs]


@pytest.mark.parametrize("case", cases_of_cronsim, ids=[case.name for case in cases_of_cronsim])
def test_cronsim_says_so_itself(case: Case) -> None:
    found = [run.astimezone(UTC) for run in islice(CronSim(case.cron, case.after), len(case.runs))]

    assert found == [run.astimezone(UTC) for run in case.runs]


def test_the_table_writes_times_as_the_clocks_of_the_zone_show_them() -> None:
    wrong = [
        (case.name, moment)
        for case in CASES
        for moment in (case.after, *case.runs)
        if moment.astimezone(case.zone).isoformat() != moment.isoformat()
    ]

    assert wrong == []


def test_the_table_is_long_enough_and_tells_its_sources() -> None:
    assert len(CASES) >= 120
    assert {case.source for case in CASES} == {"cronsim", "zoneinfo", "hand"}
    assert len({case.test_id for case in CASES}) == len(CASES)
    assert not [case.name for case in CASES if re.search(r"[^ -~]", case.test_id)]
