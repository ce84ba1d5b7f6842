"""Installing Dovecote as a service of systemd, and saying how that one stands. Blocking.

A service is a user's own, or the system's, which runs as the user who owns the home.
"""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import Conflict, DovecoteError, ErrorCode, NotFound
from orchestrator.contracts.os_errors import unusable
from orchestrator.core.service_unit import UNIT_NAME, ServiceUnit, home_of, unit_text

_BOOTED: Final = Path("/run/systemd/system")
_SYSTEM_UNITS: Final = Path("/etc/systemd/system")
_WITHIN_S: Final = 60.0
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """Which of systemd's managers is meant, and where its units lie. is_system: of all users."""

    is_system: bool
    units: Path

    @property
    def unit(self) -> Path:
        """Our unit's file."""
        return self.units / UNIT_NAME

    @property
    def systemctl(self) -> tuple[str, ...]:
        """How it is spoken to."""
        return ("systemctl",) if self.is_system else ("systemctl", "--user")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceState:
    """How the service stands. home: which it serves; None: it is not installed.

    is_lingering: whether a user's own goes on after he logged out; None where that is no question.
    """

    unit: Path
    home: str | None
    active: str
    enabled: str
    is_lingering: bool | None


def system_manager() -> Manager:
    """That of the whole machine; to change it takes root."""
    return Manager(is_system=True, units=_SYSTEM_UNITS)


def user_manager(environment: Mapping[str, str]) -> Manager:
    """That of this user."""
    named = environment.get("XDG_CONFIG_HOME", "")
    base = Path(named) if named.startswith("/") else Path.home() / ".config"
    return Manager(is_system=False, units=base / "systemd" / "user")


def unit_for(home: Path, manager: Manager, *, grace_s: float, environment: Mapping[str, str]) -> str:
    """The unit's text: this installation, that home. Raises InvalidRequest."""
    owner = _user_name(home.stat().st_uid) if manager.is_system else None
    return unit_text(
        ServiceUnit(
            program=this_program(),
            home=str(home),
            user=owner,
            path=environment.get("PATH") or _PATH,
            grace_s=grace_s,
        )
    )


def this_program() -> Sequence[str]:
    """How this installation is started from anywhere: by its script, else by its interpreter."""
    script = Path(sys.executable).with_name("dovecote")
    return (str(script),) if script.is_file() else (sys.executable, "-m", "orchestrator")


def install(home: Path, manager: Manager, text: str) -> None:
    """Write the unit, start it now and at each boot. The same again restarts it with what is new.

    Raises Conflict when a service of another home is there, DovecoteError where systemd is not, or refuses.
    """
    _check_systemd(manager)
    if manager.unit.exists():
        served = home_of(manager.unit.read_text("utf-8", "replace"))
        if served != str(home):
            raise Conflict(
                f"{manager.unit} is there already, for {served or 'something else'}.",
                suggestion="Remove that service first: dovecote service uninstall",
            )
    try:
        manager.units.mkdir(mode=0o755, parents=True, exist_ok=True)
        unfinished = manager.unit.with_suffix(".tmp")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.chmod(0o644)
        unfinished.replace(manager.unit)
    except OSError as error:
        raise unusable(manager.unit, error) from error
    _ask(manager, "daemon-reload")
    _ask(manager, "enable", UNIT_NAME)
    _ask(manager, "restart", UNIT_NAME)


def uninstall(manager: Manager) -> None:
    """Stop it and remove the unit; the home stays. Raises NotFound, DovecoteError."""
    if not manager.unit.exists():
        raise NotFound(
            f"There is no service: {manager.unit} is not there.", suggestion="Nothing has to be done."
        )
    _check_systemd(manager)
    _ask(manager, "disable", "--now", UNIT_NAME)
    try:
        manager.unit.unlink()
    except OSError as error:
        raise unusable(manager.unit, error) from error
    _ask(manager, "daemon-reload")


def service_state(manager: Manager) -> ServiceState:
    """How it stands; `unknown` for what cannot be asked, since systemd does not run here."""
    home = home_of(manager.unit.read_text("utf-8", "replace")) if manager.unit.exists() else None
    can_ask = _BOOTED.is_dir() and shutil.which("systemctl") is not None
    return ServiceState(
        unit=manager.unit,
        home=home,
        active=_word(manager, "is-active") if can_ask else "unknown",
        enabled=_word(manager, "is-enabled") if can_ask else "unknown",
        is_lingering=None if manager.is_system else _is_lingering(),
    )


def _is_lingering() -> bool:
    """Source: loginctl(1): a file of the user's name."""
    return Path("/var/lib/systemd/linger", _user_name(os.geteuid())).exists()


def _user_name(uid: int) -> str:
    """A number where it has no name; systemd takes that as well."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _check_systemd(manager: Manager) -> None:
    if shutil.which("systemctl") is None or not _BOOTED.is_dir():
        raise DovecoteError(
            "This machine is not run by systemd.",
            code=ErrorCode.NOT_RUNNING,
            suggestion="Let your own service manager run `dovecote serve`; "
            "`dovecote service install --print` shows what it takes.",
        )


def _word(manager: Manager, verb: str) -> str:
    return _run(manager, verb, UNIT_NAME).stdout.strip() or "unknown"


def _ask(manager: Manager, *words: str) -> None:
    done = _run(manager, *words)
    if done.returncode != 0:
        why = done.stderr.strip().splitlines()
        raise DovecoteError(
            f"`{' '.join((*manager.systemctl, *words))}` failed: {why[0] if why else done.returncode}.",
            code=ErrorCode.START_FAILED,
            suggestion="A system service takes root: say it with sudo."
            if manager.is_system
            else "Say it in a login session of this user, or use --system with sudo.",
        )


def _run(manager: Manager, *words: str) -> "subprocess.CompletedProcess[str]":
    argv = [*manager.systemctl, *words]
    try:
        return subprocess.run(argv, capture_output=True, text=True, timeout=_WITHIN_S, check=False)
    except subprocess.TimeoutExpired:
        raise DovecoteError(
            f"`{' '.join(argv)}` did not end within {_WITHIN_S:.0f} s.",
            code=ErrorCode.TIMEOUT,
            suggestion=f"See what it waits for: journalctl -u {UNIT_NAME}",
        ) from None
