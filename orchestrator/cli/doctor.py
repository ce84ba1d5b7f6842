"""`dovecote doctor`: every check as one line, with what mends it; the orchestrator may run or not."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from orchestrator.cli.agent_checks import agent_findings
from orchestrator.cli.channel_checks import check_whatsapp
from orchestrator.cli.container_checks import docker_findings
from orchestrator.cli.door_checks import check_doors, check_keys
from orchestrator.cli.findings import Finding, Health, Patient, broken, doubtful, well
from orchestrator.cli.home import unknown_language
from orchestrator.cli.name_checks import name_findings
from orchestrator.cli.own_program_checks import check_alerts, check_voice
from orchestrator.cli.place_checks import (
    check_directories,
    check_disk,
    check_lock,
    check_log,
)
from orchestrator.cli.provider_checks import check_providers
from orchestrator.cli.refusal_checks import check_refusals
from orchestrator.cli.runner_checks import check_enforced, check_runner
from orchestrator.cli.running_checks import running_findings
from orchestrator.cli.secret_checks import check_secrets
from orchestrator.cli.service_checks import check_service
from orchestrator.cli.standing_checks import standing_findings
from orchestrator.cli.store_checks import check_files, check_groups, check_store, sender_findings
from orchestrator.cli.workspace_checks import workspace_findings
from orchestrator.contracts.errors import DovecoteError
from orchestrator.paths import Paths
from orchestrator.settings.loading import LoadedSettings, home_here, load_settings_here
from orchestrator.settings.tree import Settings
from orchestrator.store.instance_lock import holder_pid

Check = Callable[[Patient], Finding]

SeveralChecks = Callable[[Patient], list[Finding]]

CHECKS: Final[tuple[Check | SeveralChecks, ...]] = (
    check_directories,
    check_secrets,
    check_disk,
    check_lock,
    running_findings,
    check_doors,
    check_keys,
    check_store,
    check_groups,
    name_findings,
    sender_findings,
    check_files,
    standing_findings,
    check_runner,
    check_enforced,
    docker_findings,
    check_whatsapp,
    check_alerts,
    check_voice,
    check_refusals,
    check_service,
    check_log,
    check_providers,
    agent_findings,
    workspace_findings,
)
"""What is looked at after the settings, each for one finding or several. A new part adds its own here."""

_SIGNS: Final = {
    Health.OK: ("ok", "green"),
    Health.WARNING: ("warn", "yellow"),
    Health.FAILURE: ("FAIL", "red"),
}


def run_doctor(home_option: Path | None, *, as_json: bool) -> int:
    """Print all findings; 1 if something is broken."""
    findings = examine(home_option)
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        print_table(findings)
    return 1 if any(finding.health is Health.FAILURE for finding in findings) else 0


def examine(home_option: Path | None) -> list[Finding]:
    """All findings, in the order of the list."""
    paths = Paths(home=home_here(home_option))
    settings, findings = _settings(paths)
    patient = Patient(paths=paths, settings=settings, pid=holder_pid(paths.lock))
    return [*findings, *(finding for check in CHECKS for finding in _run(check, patient))]


def _settings(paths: Paths) -> tuple[Settings, list[Finding]]:
    try:
        loaded = load_settings_here(paths.home)
    except DovecoteError as error:
        return Settings(), _unloaded(error)
    return loaded.settings, [_loaded(loaded), _timezone(loaded), *_language(loaded.settings)]


def _unloaded(error: DovecoteError) -> list[Finding]:
    """One finding a fault."""
    faults = error.details.get("faults")
    if not isinstance(faults, list):
        return [broken("settings", error.message, error.suggestion)]
    return [broken("settings", each["message"], each["suggestion"]) for each in faults]


def _loaded(loaded: LoadedSettings) -> Finding:
    count = len([name for name in loaded.origins if name != "assistant.timezone"])
    return well("settings", f"{count} set, the others are the defaults (`dovecote config` shows them).")


def _timezone(loaded: LoadedSettings) -> Finding:
    name = loaded.settings.assistant.timezone
    if loaded.warnings:
        return doubtful("timezone", loaded.warnings[0], "Set assistant.timezone in dovecote.toml.")
    return well("timezone", f"{name} ({loaded.origins.get('assistant.timezone', 'default')}).")


def _language(settings: Settings) -> list[Finding]:
    mend = "Set assistant.locale in dovecote.toml to one of these."
    return [doubtful("language", why, mend) for why in unknown_language(settings)]


def _run(check: Check | SeveralChecks, patient: Patient) -> list[Finding]:
    try:
        found = check(patient)
    except Exception as error:  # one broken check must not hide what the others find
        name = check.__name__.removeprefix("check_").removesuffix("_findings")
        return [broken(name, f"This check itself failed: {error!r}.", None)]
    return [without_doctor(each) for each in (found if isinstance(found, list) else [found])]


def without_doctor(finding: Finding) -> Finding:
    """Errors that send people to the doctor are no advice of his."""
    if finding.mend is None or "dovecote doctor" not in finding.mend:
        return finding
    return replace(finding, mend="Look into the log in data/logs.")


def print_table(findings: Sequence[Finding]) -> None:
    """One line a finding, with what mends it below."""
    from rich.console import Console
    from rich.text import Text

    screen = Console(file=sys.stdout, soft_wrap=True, highlight=False)
    width = max(len(finding.what) for finding in findings)
    for finding, following in zip(findings, [*findings[1:], None], strict=True):
        sign, colour = _SIGNS[finding.health]
        screen.print(
            Text(f"{sign:<5}", style=colour), Text(f"{finding.what:<{width}}  {finding.why}"), sep=""
        )
        # What mends several findings in a row stands once, below the last of them.
        is_said_again = following is not None and (following.what, following.mend) == (
            finding.what,
            finding.mend,
        )
        if finding.mend and not is_said_again:
            screen.print(Text(f"{'':<{width + 7}}→ {finding.mend}"))
