"""Additional directories: what is refused, and with which words. agents.md section 5, case H7."""

from pathlib import Path

import pytest

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.faults import SeveralFaults
from orchestrator.contracts.records.definitions import ExtraDirectory
from orchestrator.core.sandbox.mount_rules import (
    Allowlist,
    MountWish,
    Protected,
    SeenDirectory,
    doubt_about,
    judge_mount,
    parse_allowlist,
    why_never,
    without_doubles,
)

PROTECTED = Protected(home="/srv/dovecote", operator_home="/home/ann")
LIST = """
[[roots]]
path = "/"
[[roots]]
path = "/srv/shared"
read_write = true
"""


def judge(
    path: str,
    *,
    text: str = LIST,
    mode: str = "ro",
    is_main: bool = True,
    resolved: str | None = "",
    is_directory: bool = True,
) -> str:
    """The verdict on one directory, which is where it is written unless `resolved` says otherwise."""
    allowlist = parse_allowlist(text, where="mounts.toml")
    seen = SeenDirectory(
        written=path, resolved=path if resolved == "" else resolved, is_directory=is_directory
    )
    wish = MountWish(name="photos", seen=seen, is_writable=mode == "rw")
    roots = [SeenDirectory(written=r.path, resolved=r.path, is_directory=True) for r in allowlist.roots]
    return judge_mount(wish, allowlist, roots, PROTECTED, is_main=is_main, where="mounts.toml")


def refusal(path: str, **more: object) -> str:
    """Why not, and what to do."""
    with pytest.raises(InvalidSettings) as refused:
        judge(path, **more)  # type: ignore[arg-type]  # plain values by name
    assert refused.value.suggestion
    return str(refused.value)


@pytest.mark.parametrize(
    "path", ["/srv/photos", "/srv/shared", "/home/ann/photos", "/srv/dovecote2", "/data/environment"]
)
def test_what_lies_below_a_root_may_be_read(path: str) -> None:
    assert judge(path) == path


def test_a_link_is_judged_by_where_it_leads() -> None:
    assert judge("/srv/link", resolved="/srv/photos") == "/srv/photos"
    assert ".ssh" in refusal("/srv/link", resolved="/home/bob/.ssh")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/", "the root of the whole machine"),
        ("/srv/dovecote", "Dovecote's own home"),
        ("/srv/dovecote/groups/main", "Dovecote's own home"),
        ("/srv", "Dovecote's own home"),
        ("/home/ann", "your home directory"),
        ("/home", "your home directory"),
        ("/run", "container engine"),
        ("/var/run/docker.sock", "container engine"),
        ("/var/lib/docker/overlay2", "container engine"),
        ("/proc/1", "the system"),
        ("/sys", "the system"),
        ("/dev/shm", "the system"),
        *((place, "a whole part of the system") for place in (
            "/bin", "/boot", "/etc", "/lib", "/lib64", "/root", "/sbin", "/usr", "/usr/bin", "/usr/local",
        )),
        ("/var", "container engine"),
        ("/home/bob", "somebody's whole home"),
        *((f"/x/{name}/y", name) for name in (
            ".ssh", ".gnupg", ".aws", ".azure", ".gcloud", ".kube", ".config", ".docker", ".netrc", ".npmrc",
            ".pypirc", ".env", ".env.local", "id_rsa", "id_ed25519", "credentials", "server.pem", "tls.key",
        )),
        ("/x/.SSH", ".ssh"),
    ],
)  # fmt: skip
def test_some_places_are_never_mounted_whatever_the_list_says(path: str, said: str) -> None:
    assert said in refusal(path)


@pytest.mark.parametrize("path", ["/x/.sshd", "/x/my.env", "/x/credentials2", "/x/keyboard", "/x/monkey"])
def test_names_are_whole_components_not_parts(path: str) -> None:
    assert judge(path) == path


@pytest.mark.parametrize("path", ["/srv/a:b", "/srv/a\nb", "/srv/a\x7f"])
def test_a_colon_or_a_control_character_is_refused(path: str) -> None:
    assert "colon or a control character" in refusal(path)


def test_a_directory_that_is_not_there_is_named() -> None:
    assert "'/srv/none', is not there" in refusal("/srv/none", resolved=None)


def test_h7_of_a_file_the_directory_that_holds_it_is_named() -> None:
    said = refusal("/srv/photos/one.jpg", is_directory=False)

    assert "is a file" in said
    assert said.endswith("Name the directory that holds it: /srv/photos")


def test_what_no_root_holds_is_refused_with_the_file_to_change() -> None:
    said = refusal("/data/x", text='[[roots]]\npath = "/srv/photos"')

    assert "not below any root in mounts.toml" in said
    assert said.endswith('[[roots]] and below it path = "/data/x"')


@pytest.mark.parametrize("path", ["/data/a b", '/data/"a"', "/data/a\\b", "/data/grüße"])
def test_the_line_that_is_advised_allows_the_very_directory(path: str) -> None:
    line = refusal(path, text="").rpartition("below it ")[2]

    assert judge(path, text=f"[[roots]]\n{line}") == path


def test_the_advice_about_a_link_names_where_it_leads() -> None:
    assert refusal("/srv/link", resolved="/data/x", text="").endswith('path = "/data/x"')


@pytest.mark.parametrize("path", ["/etc/nginx", "/usr/local/src", "/var/www", "/root/project", "/tmp"])
def test_of_places_that_are_not_for_agents_alone_there_is_a_doubt(path: str) -> None:
    assert why_never(path, PROTECTED) is None
    assert doubt_about(path) is not None


@pytest.mark.parametrize(
    "path", ["/srv/photos", "/home/ann/photos", "/tmp/project", "/var/tmp/x", "/data", "/etcetera"]
)
def test_of_any_other_directory_there_is_none(path: str) -> None:
    assert doubt_about(path) is None


def test_without_a_list_nothing_is_mounted() -> None:
    assert "not below any root" in refusal("/srv/photos", text="")


def test_writing_needs_the_root_and_another_group_than_main_the_lists_word_too() -> None:
    assert judge("/srv/shared/x", mode="rw") == "/srv/shared/x"
    assert "read_write = true" in refusal("/srv/photos", mode="rw")
    assert "non_main_read_only = false" in refusal("/srv/shared/x", mode="rw", is_main=False)
    assert judge("/srv/shared/x", text="non_main_read_only = false\n" + LIST, mode="rw", is_main=False)


def test_the_list_may_refuse_more_names() -> None:
    assert "private" in refusal("/srv/Private/x", text='refused_names = ["private"]\n' + LIST)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('roots = ["/srv/photos"]', "roots[0]"),
        ('roots = "/srv"', "roots"),
        ('[[root]]\npath = "/srv"', "root"),
        ("[[roots]]\nread_write = true", "roots[0].path"),
        ('[[roots]]\npath = "/srv"\nread_write = "yes"', "roots[0].read_write"),
    ],
)
def test_h7_a_wrong_list_is_refused_by_its_field(text: str, field: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        parse_allowlist(text, where="mounts.toml")

    assert f"mounts.toml has the field {field}, " in refused.value.message
    assert "[[roots]]" in (refused.value.suggestion or "")


def test_of_a_wrong_list_all_fields_are_named_at_once() -> None:
    text = 'non_main_read_only = 1\ncolour = "red"\n[[roots]]\npath = ""\n[[roots]]\nread_write = 2'

    with pytest.raises(SeveralFaults) as refused:
        parse_allowlist(text, where="mounts.toml")

    assert {fault.message.split()[4].rstrip(",") for fault in refused.value.faults} == {
        "roots[0].path",
        "roots[1].path",
        "roots[1].read_write",
        "non_main_read_only",
        "colour",
    }


def test_a_list_that_is_no_toml_is_refused() -> None:
    with pytest.raises(InvalidSettings, match=r"^mounts.toml is not TOML"):
        parse_allowlist("= 1", where="mounts.toml")


def test_a_directory_is_mounted_once_and_a_name_used_once() -> None:
    one, two = (ExtraDirectory(name=name, path=Path("/srv/x")) for name in ("a", "b"))

    assert without_doubles([one, two]) == (one,)
    with pytest.raises(InvalidSettings, match="the name a twice"):
        without_doubles([one, ExtraDirectory(name="a", path=Path("/srv/y"))])


def test_a_root_that_is_not_there_holds_nothing() -> None:
    allowlist = Allowlist.model_validate({"roots": [{"path": "/gone"}]})
    wish = MountWish(
        name="x", seen=SeenDirectory(written="/gone", resolved="/gone", is_directory=True), is_writable=False
    )

    with pytest.raises(InvalidSettings, match="not below any root"):
        judge_mount(
            wish,
            allowlist,
            [SeenDirectory(written="/gone", resolved=None)],
            PROTECTED,
            is_main=True,
            where="m",
        )
