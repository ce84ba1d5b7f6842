"""Installing Dovecote as a service of systemd, and saying how that one stands. Blocking.

A service is a user's own, or the system's, which runs as the user who owns the home.
"""

import os
import pwd
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import Conflict, DovecoteError, ErrorCode
from orchestrator.contracts.os_errors import unusable
from orchestrator.core.service_unit import (
    ANSWER_S,
    UNIT_NAME,
    ServiceUnit,
    change_within_s,
    home_of,
    unit_text,
)

_BOOTED: Final = Path("/run/systemd/system")
_SYSTEM_UNITS: Final = Path("/etc/systemd/system")
_LINGERERS: Final = Path("/var/lib/systemd/linger")
"""Source: loginctl(1)."""
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

WITHOUT_SYSTEMD: Final = (
    "Have `dovecote serve` started by whatever keeps programs running here, such as the restart policy of a "
    "container; `dovecote service install --print` shows what it takes."
)
"""What to do instead of installing a service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Systemd:
    """The machine's own or a user's, and where its units lie. is_system: the machine's.

    lingerers: has a file of the name of each user whose units go on after he logged out. booted: is there
    where systemd runs the machine.
    """

    is_system: bool
    units: Path
    booted: Path = _BOOTED
    lingerers: Path = _LINGERERS

    @property
    def unit(self) -> Path:
        """Our unit's file."""
        return self.units / UNIT_NAME

    @property
    def is_here(self) -> bool:
        """Whether systemd runs this machine, and can be spoken to; in a container it rarely does."""
        return self.booted.is_dir() and shutil.which("systemctl") is not None

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


def machine_systemd() -> Systemd:
    """That of the whole machine; to change it takes root."""
    return Systemd(is_system=True, units=_SYSTEM_UNITS)


def user_systemd(environment: Mapping[str, str]) -> Systemd:
    """That of this user."""
    named = environment.get("XDG_CONFIG_HOME", "")
    base = Path(named) if named.startswith("/") else Path.home() / ".config"
    return Systemd(is_system=False, units=base / "systemd" / "user")


def unit_for(home: Path, systemd: Systemd, *, grace_s: float, environment: Mapping[str, str]) -> str:
    """The unit's text: this installation, that home. Raises InvalidRequest."""
    owner = _user_name(home.stat().st_uid) if systemd.is_system else None
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


def install(home: Path, systemd: Systemd, text: str) -> None:
    """Write the unit, start it now and at each boot. The same again restarts it with what is new.

    Raises Conflict when a service of another home is there, DovecoteError where systemd is not, or refuses.
    """
    _check_systemd(systemd)
    if systemd.unit.exists():
        served = home_of(systemd.unit.read_text("utf-8", "replace"))
        if served != str(home):
            raise Conflict(
                f"{systemd.unit} is there already, for {served or 'something else'}.",
                suggestion=_how_to_remove(systemd, served),
            )
    try:
        systemd.units.mkdir(mode=0o755, parents=True, exist_ok=True)
        unfinished = systemd.unit.with_suffix(".tmp")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.chmod(0o644)
        unfinished.replace(systemd.unit)
    except OSError as error:
        raise unusable(systemd.unit, error) from error
    _ask(systemd, "daemon-reload")
    _ask(systemd, "enable", UNIT_NAME)
    _ask(systemd, "restart", UNIT_NAME, within_s=change_within_s(text))


def uninstall(home: Path, systemd: Systemd) -> bool:
    """Stop it and remove the unit; the home stays. Whether there was one.

    Raises Conflict when the unit is not ours or serves another home, DovecoteError.
    """
    if not systemd.unit.exists():
        return False
    try:
        text = systemd.unit.read_text("utf-8", "replace")
    except OSError as error:
        raise unusable(systemd.unit, error) from error
    served = home_of(text)
    if served != str(home):
        raise Conflict(
            f"{systemd.unit} serves {served}, not {home}; nothing was removed."
            if served is not None
            else f"{systemd.unit} is no unit of Dovecote's; nothing was removed.",
            suggestion=_how_to_remove(systemd, served),
        )
    _check_systemd(systemd)
    _ask(systemd, "disable", "--now", UNIT_NAME, within_s=change_within_s(text))
    try:
        systemd.unit.unlink()
    except OSError as error:
        raise unusable(systemd.unit, error) from error
    _ask(systemd, "daemon-reload")
    return True


def service_state(systemd: Systemd) -> ServiceState:
    """How it stands; `unknown` for what cannot be asked, since systemd does not run here."""
    home = home_of(systemd.unit.read_text("utf-8", "replace")) if systemd.unit.exists() else None
    can_ask = systemd.is_here
    return ServiceState(
        unit=systemd.unit,
        home=home,
        active=_word(systemd, "is-active") if can_ask else "unknown",
        enabled=_word(systemd, "is-enabled") if can_ask else "unknown",
        is_lingering=None if systemd.is_system else _is_lingering(systemd),
    )


def _is_lingering(systemd: Systemd) -> bool:
    return (systemd.lingerers / _user_name(os.geteuid())).exists()


def _user_name(uid: int) -> str:
    """A number where it has no name; systemd takes that as well."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _check_systemd(systemd: Systemd) -> None:
    if not systemd.is_here:
        raise DovecoteError(
            "This machine is not run by systemd.", code=ErrorCode.NOT_RUNNING, suggestion=WITHOUT_SYSTEMD
        )


def _how_to_remove(systemd: Systemd, served: str | None) -> str:
    if served is None:
        return "Whoever wrote that unit knows what it is for: move it away by hand if it is not needed."
    flag = ["--system"] if systemd.is_system else []
    command = shlex.join(["dovecote", "service", "uninstall", *flag, "--home", served])
    return f"To remove that service: {command}"


def _word(systemd: Systemd, verb: str) -> str:
    return _run(systemd, verb, UNIT_NAME, within_s=ANSWER_S).stdout.strip() or "unknown"


def _ask(systemd: Systemd, *words: str, within_s: float | None = ANSWER_S) -> None:
    done = _run(systemd, *words, within_s=within_s)
    if done.returncode != 0:
        why = done.stderr.strip().splitlines()
        raise DovecoteError(
            f"`{' '.join((*systemd.systemctl, *words))}` failed: {why[0] if why else done.returncode}.",
            code=ErrorCode.START_FAILED,
            suggestion="A system service takes root: say it with sudo."
            if systemd.is_system
            else "Say it in a login session of this user, or use --system with sudo.",
        )


def _run(systemd: Systemd, *words: str, within_s: float | None) -> "subprocess.CompletedProcess[str]":
    argv = [*systemd.systemctl, *words]
    try:
        return subprocess.run(argv, capture_output=True, text=True, timeout=within_s, check=False)
    except subprocess.TimeoutExpired as late:
        raise DovecoteError(
            f"`{' '.join(argv)}` did not end within {late.timeout:.0f} s.",
            code=ErrorCode.TIMEOUT,
            suggestion=f"See what it waits for: journalctl -u {UNIT_NAME}",
        ) from None
