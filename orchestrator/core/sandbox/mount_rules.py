"""Which directories of the host an agent may see beside its own. Source: agents.md section 5."""

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.faults import raise_any
from orchestrator.contracts.records.definitions import ExtraDirectory
from orchestrator.contracts.toml_text import load_toml
from orchestrator.contracts.wire.field_names import in_our_words

_REFUSED_NAMES: Final = frozenset(
    {
        ".ssh", ".gnupg", ".aws", ".azure", ".gcloud", ".kube", ".config", ".docker", ".netrc", ".npmrc",
        ".pypirc", ".git-credentials", ".password-store", ".secret", ".secrets", "credentials",
        "credentials.json", "private_key", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
    }
)  # fmt: skip
_REFUSED_FORMS: Final = re.compile(r"\.env(\..*)?|.*\.(pem|key|p12|pfx|jks|keystore)")
_ENGINE_PLACES: Final = (
    "/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
    "/var/lib/docker", "/var/lib/containerd",
)  # fmt: skip
_SYSTEM_PLACES: Final = ("/proc", "/sys", "/dev")
# Too much at once: settings and keys of the machine, its programs, everybody's homes.
_WHOLE_PLACES: Final = frozenset(
    {
        "/bin", "/boot", "/etc", "/home", "/lib", "/lib32", "/lib64", "/libx32", "/root", "/run", "/sbin",
        "/usr", "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/libx32",
        "/usr/local", "/usr/sbin", "/usr/share", "/var", "/var/lib", "/var/log",
    }
)  # fmt: skip
_HOMES: Final = "/home"
_SENSITIVE_PLACES: Final = ("/boot", "/etc", "/root", "/run", "/usr", "/var")
_SHARED_PLACES: Final = frozenset({"/tmp", "/var/tmp"})
_EXAMPLE: Final = '[[roots]] and below it path = "/srv/photos"'


class _Root(BaseModel):
    """A directory below which additional directories may lie."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    path: Annotated[str, Field(min_length=1, max_length=4_096)]
    read_write: bool = False
    description: str = ""


class Allowlist(BaseModel):
    """The operator's `mounts.toml`. non_main_read_only: other groups than main never write there."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    roots: list[_Root] = Field(default_factory=list)
    refused_names: list[str] = Field(default_factory=list)
    non_main_read_only: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenDirectory:
    """A path as it was written and what was found there. resolved: without links; None: nothing is there."""

    written: str
    resolved: str | None
    is_directory: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Protected:
    """Places that no agent gets. home: Dovecote's. operator_home: the user's own. Resolved paths."""

    home: str
    operator_home: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MountWish:
    """A directory that a definition asks for."""

    name: str
    seen: SeenDirectory
    is_writable: bool


def parse_allowlist(text: str, *, where: str) -> Allowlist:
    """The list that a `mounts.toml` is. Raises InvalidSettings naming each field that is wrong."""
    try:
        return Allowlist.model_validate(load_toml(text))
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(
            f"{where} is not TOML: {str(error)[:200]}.", suggestion="Mend that line."
        ) from None
    except ValidationError as error:
        raise_any([_wrong_entry(each, where) for each in error.errors(include_url=False)])
        raise


def _wrong_entry(found: ErrorDetails, where: str) -> InvalidSettings:
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in found["loc"])
    why = f"is {ascii(found['input'])[:80]}: {in_our_words(found['msg']).removeprefix('Input should be ')}"
    if found["type"] == "missing":
        why = "is missing"
    elif found["type"] == "extra_forbidden":
        why = "is not known here"
    return InvalidSettings(
        f"{where} has the field {field.lstrip('.')}, which {why}.",
        suggestion=f"Write roots as tables, each {_EXAMPLE}.",
    )


def judge_mount(
    wish: MountWish,
    allowlist: Allowlist,
    roots: Sequence[SeenDirectory],
    protected: Protected,
    *,
    is_main: bool,
    where: str,
) -> str:
    """The resolved path to mount. roots: those of the list, looked at. where: the list's name, for errors.

    Raises InvalidSettings that says why not, and what to do.
    """
    path = _checked_path(wish)
    why = _why_never(path, allowlist, protected)
    if why is not None:
        raise _refused(wish, why, "Choose another directory.")
    fitting = [
        root
        for root, seen in zip(allowlist.roots, roots, strict=True)
        if seen.resolved is not None and _is_within(path, seen.resolved)
    ]
    if not fitting:
        mend = f"To allow it, add there: {_root_line(path)}"
        raise _refused(wish, f"is not below any root in {where}", mend)
    if wish.is_writable and not any(root.read_write for root in fitting):
        raise _refused(
            wish, "may only be read", f"Write mode: ro, or set read_write = true at its root in {where}."
        )
    if wish.is_writable and not is_main and allowlist.non_main_read_only:
        mend = f"Write mode: ro, or set non_main_read_only = false in {where}."
        raise _refused(wish, "may only be read by groups other than main", mend)
    return path


def why_never(path: str, protected: Protected) -> str | None:
    """Why no agent is ever shown this directory of the host, whoever allows it; None: it may be."""
    return _why_never(path, Allowlist(), protected)


def doubt_about(path: str) -> str | None:
    """What an operator should know before agents are shown this directory, which they may be; None: nothing.

    A whole sentence but for its subject, as of `why_never`.
    """
    if path in _SHARED_PLACES:
        return "is shared by all programs of this machine, whose files lie there"
    if any(_is_within(path, place) for place in _SHARED_PLACES):
        return None  # what somebody put there is his own, also where that is /var/tmp
    if any(_is_within(path, place) for place in _SENSITIVE_PLACES):
        return "belongs to the system: agents may read what lies there, and change what they may write"
    return None


def without_doubles(found: Sequence[ExtraDirectory]) -> tuple[ExtraDirectory, ...]:
    """Each directory once, under its first name. Raises InvalidSettings for one name twice."""
    kept: dict[str, ExtraDirectory] = {}
    names: set[str] = set()
    for each in found:
        if each.name in names:
            raise InvalidSettings(
                f"additional_dirs has the name {each.name} twice.", suggestion="Give each a name of its own."
            )
        names.add(each.name)
        kept.setdefault(str(each.path), each)
    return tuple(kept.values())


def _root_line(path: str) -> str:
    """What makes this directory a root, as TOML writes it."""
    return f"[[roots]] and below it path = {json.dumps(path, ensure_ascii=False)}"


def _checked_path(wish: MountWish) -> str:
    seen = wish.seen
    if not seen.written.startswith("/"):
        raise _refused(wish, "is not absolute", "Write the whole path, from / on.")
    if seen.resolved is None:
        raise _refused(wish, "is not there", "Make it, or correct the path.")
    if any(sign == ":" or ord(sign) < 32 or ord(sign) == 127 for sign in seen.written + seen.resolved):
        raise _refused(wish, "has a colon or a control character in its path", "Rename it.")
    if not seen.is_directory:
        parent = seen.resolved.rpartition("/")[0] or "/"
        raise _refused(wish, "is a file, not a directory", f"Name the directory that holds it: {parent}")
    return seen.resolved


def _why_never(path: str, allowlist: Allowlist, protected: Protected) -> str | None:
    if path == "/":
        return "is the root of the whole machine"
    if _is_within(path, protected.home) or _is_within(protected.home, path):
        return "is Dovecote's own home, or holds it or is held by it"
    if _is_within(protected.operator_home, path):
        return "is your home directory, or holds it"
    if any(_is_within(place, path) or _is_within(path, place) for place in _ENGINE_PLACES):
        return "holds the socket of a container engine, or its files"
    if any(_is_within(path, place) for place in _SYSTEM_PLACES):
        return "belongs to the system"
    if path in _WHOLE_PLACES:
        return "is a whole part of the system, with more in it than any work needs"
    if path.rpartition("/")[0] == _HOMES:
        return "is somebody's whole home"
    refused = {name.casefold() for name in allowlist.refused_names}
    for part in path.casefold().split("/"):
        if part in _REFUSED_NAMES or part in refused or _REFUSED_FORMS.fullmatch(part):
            return f"has {part} in its path, where credentials or settings lie"
    return None


def _is_within(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def _refused(wish: MountWish, why: str, mend: str) -> InvalidSettings:
    return InvalidSettings(
        f"The additional directory {wish.name}, {ascii(wish.seen.written)[:200]}, {why}.", suggestion=mend
    )
