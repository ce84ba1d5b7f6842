"""A provider's program logs in by itself, inside the session home that a group's agents have."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from orchestrator.contracts.errors import DovecoteError, InvalidSettings
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.providers import AuthMode, EnvPolicy, Provider
from orchestrator.core.agents.environment import home_variables, inherited
from orchestrator.core.agents.recipes import Recipe, filled
from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings
from orchestrator.store.group_files import give_home


def login_command(provider: Provider) -> list[str]:
    """The words of the program's own login. Raises InvalidSettings where it keeps none that is wanted."""
    if provider.auth_mode is not AuthMode.NATIVE_CLI:
        raise InvalidSettings(
            f"The provider {provider.name} is {provider.auth_mode}: its program keeps no login of its own.",
            suggestion="Where it has keys, use one: dovecote secret set. Else set "
            f'providers.{provider.name}.auth_mode = "native_cli"; whatever runs in its containers can then '
            "read that login.",
        )
    if not provider.login:
        raise InvalidSettings(
            f"The provider {provider.name} does not say how its program logs in.",
            suggestion=f"Set providers.{provider.name}.login to that command.",
        )
    return shlex.split(provider.login)


def session_home(paths: Paths, group: Group, provider: Provider) -> Path:
    """Where the agents of this group and provider have their home, and so their login."""
    return paths.sessions / group.folder / provider.name


def log_in(
    paths: Paths, settings: Settings, group: Group, provider: Provider, environment: Mapping[str, str]
) -> int:
    """Run the login on this terminal, as the user that the group's agents are; its exit code.

    environment: of whoever asks; what could hold a secret is not handed on. Blocks. Raises DovecoteError.
    """
    words = login_command(provider)
    program = shutil.which(words[0], path=environment.get("PATH", os.defpath))
    if program is None:
        raise DovecoteError(
            f"The login {words[0]} is not on this machine.",
            suggestion="Install the program where this user finds it in the PATH.",
        )
    home = session_home(paths, group, provider)
    uid = settings.agent.uid_range_start + group.number if os.geteuid() == 0 else None
    recipe = Recipe(base_url=None, home=str(home), workspace=str(home), model=None, placeholder="")
    given = inherited(EnvPolicy.ISOLATED, environment) | home_variables(str(home))
    given |= filled(provider.environment, recipe)
    try:
        give_home(home, uid=uid, gid=uid)
        ended = subprocess.run(
            [program, *words[1:]],
            cwd=home,
            env=given,
            user=uid,
            group=uid,
            extra_groups=None if uid is None else (),
            check=False,
        )
    except OSError as error:
        raise DovecoteError(
            f"The login {program} can't be run in {home}: {error.strerror}.",
            suggestion="The user of the group's agents has to be able to reach both.",
        ) from error
    return ended.returncode
