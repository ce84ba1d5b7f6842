"""The doctor's look at settings that groups take over when they are made: a later change is not theirs."""

from collections.abc import Sequence
from typing import Final

from orchestrator.cli.findings import Finding, Patient, well_for_now
from orchestrator.cli.store_checks import groups_there
from orchestrator.contracts.records.groups import Group
from orchestrator.core.chat.trigger import default_trigger
from orchestrator.core.wording import knows_language
from orchestrator.settings.tree import AssistantSettings

_DEFAULT: Final = AssistantSettings()
_NAMED: Final = 5


def name_findings(patient: Patient) -> list[Finding]:
    """Which groups have another name or language than the settings say, where those were changed."""
    groups = groups_there(patient)
    assistant = patient.settings.assistant
    found: list[Finding] = []
    if assistant.name != _DEFAULT.name:
        trigger = default_trigger(assistant.name)
        # A trigger of their own shows that somebody chose what they are called.
        usual = [each for each in groups if _has_usual_trigger(each)]
        others = [each for each in usual if each.assistant_name != assistant.name]
        change = f'assistant_name="{assistant.name}" trigger="{trigger}"'
        found += _kept("assistant.name", assistant.name, others, change)
    if assistant.locale != _DEFAULT.locale and knows_language(assistant.locale):
        others = [each for each in groups if each.locale != assistant.locale]
        found += _kept("assistant.locale", assistant.locale, others, f"locale={assistant.locale}")
    return found


def _has_usual_trigger(group: Group) -> bool:
    return group.trigger == default_trigger(group.assistant_name)


def _kept(setting: str, value: str, groups: Sequence[Group], change: str) -> list[Finding]:
    if not groups:
        return []
    named = ", ".join(each.folder for each in groups[:_NAMED])
    more = f" and {len(groups) - _NAMED} more" if len(groups) > _NAMED else ""
    why = f"{setting} is {value!r}, for groups made from now on; not yet so: {named}{more}."
    folder = groups[0].folder if len(groups) == 1 else "FOLDER"
    return [well_for_now("names", why, f"If it is meant for them: dovecote group set {folder} {change}")]
