"""`manage_config`: the directories that agents may be given, the limits, what was audited last."""

from collections.abc import Mapping
from typing import Any, Final

from orchestrator.api.credentials import operator_only
from orchestrator.api.toolsets.serving import Object, ProgramCaller
from orchestrator.commands.agents.event_views import EventChoice, flat, newest_page, sight_of
from orchestrator.commands.services import Services
from orchestrator.commands.setup.api_keys import check_scope
from orchestrator.commands.spawning.workspaces import (
    approve_workspace,
    list_workspaces,
    propose_workspace,
    reject_workspace,
    remove_workspace,
)
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.events import EventClass
from orchestrator.contracts.records.tokens import Scope

_AUDITED: Final = 50
_ACTIONS: Final = {
    "workspaces": ("list", "propose", "approve", "reject", "remove"),
    "nestedspawn": ("show",),
    "audit": ("recent",),
}
CONFIG_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "section": {"type": "string", "enum": list(_ACTIONS)},
        "action": {"type": "string", "enum": [each for actions in _ACTIONS.values() for each in actions]},
        "path": {
            "type": "string",
            "description": "Absolute path of a directory, for all actions on workspaces but list.",
        },
    },
    "required": ["section", "action"],
}
_DECISIONS: Final = {"approve": approve_workspace, "reject": reject_workspace, "remove": remove_workspace}


class SpawnConfig:
    """The tool, section by section."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def call(self, caller: ProgramCaller, given: Mapping[str, Any]) -> Object:
        """Show or change it. Raises DovecoteError."""
        section, action = given.get("section"), given.get("action")
        if not isinstance(section, str) or action not in _ACTIONS.get(section, ()):
            known = "; ".join(f"{name}: {', '.join(actions)}" for name, actions in _ACTIONS.items())
            raise InvalidRequest(
                f"manage_config knows no action {str(action)[:40]!r} of {str(section)[:40]!r}.",
                suggestion=f"There are {known}. Limits are changed in dovecote.toml.",
            )
        match section:
            case "workspaces":
                return await self._workspaces(caller, str(action), given.get("path"))
            case "nestedspawn":
                return self._limits()
            case _:
                return await self._audited(caller)

    async def _workspaces(self, caller: ProgramCaller, action: str, path: object) -> Object:
        if action == "list":
            return {"workspaces": await list_workspaces(self._services)}
        if not isinstance(path, str):
            raise InvalidRequest("path is missing, or no text.", suggestion="Give an absolute path.")
        if action == "propose":
            check_scope(caller, Scope.SPAWN)
            return await propose_workspace(self._services, caller, path)
        return await _DECISIONS[action](self._services, operator_only(caller), path)

    def _limits(self) -> Object:
        """`NestedSpawnConfig` of seed 000, and our own limits."""
        spawn = self._services.settings.spawn
        return {
            "enableRecursiveSpawn": spawn.enabled,
            "maxNestingDepth": spawn.max_depth,
            "maxAgentsPerTree": spawn.max_agents_per_tree,
            "maxConcurrentAgents": self._services.settings.queue.max_live,
            "maxSpawnsPerTree": spawn.max_spawns_per_tree,
            "spawnsPerMinute": spawn.per_minute,
            "absoluteMaxTimeoutMs": round(spawn.absolute_max_timeout_s * 1000),
        }

    async def _audited(self, caller: ProgramCaller) -> Object:
        check_scope(caller, Scope.READ)
        sight = await sight_of(self._services, caller)
        choice = EventChoice(event_class=EventClass.AUDIT)
        page = await newest_page(self._services, None, sight, count=_AUDITED, choice=choice)
        return {"events": [flat(each) for each in page.events]}
