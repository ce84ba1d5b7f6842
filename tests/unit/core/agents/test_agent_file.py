"""`AGENT.md`: each field of agents.md section 4, and what is said of a wrong one."""

import pytest

from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.faults import SeveralFaults
from orchestrator.contracts.records.definitions import HostPort
from orchestrator.contracts.records.providers import Permissions
from orchestrator.core.agents.agent_file import MAX_BODY_BYTES, AgentFile, parse_agent_file

WHOLE = """---
name: Scout
provider: claude
command: my-agent --acp 'two words'
model: claude-sonnet-4-6
permissions: approve-all
mcp_servers:
  notes:
    command: notes-server
    args: [--quiet]
    env:
      LEVEL: 3
  web:
    url: https://tools.example.org/mcp/
env:
  COLOUR: green
  DEBUG: true
additional_dirs:
  - name: photos
    path: /srv/photos
    mode: rw
tools: [chat]
max_turns: 12
budget:
  tokens_per_day: 200000
  usd_per_month: 5
egress:
  - A.example:443
  - provider-tools
locale: de-AT
---

You are a scout.
"""


def parse(text: str) -> AgentFile:
    return parse_agent_file(text, where="groups/x/AGENT.md")


def test_every_field_is_read() -> None:
    file = parse(WHOLE)
    fields = file.fields

    assert (fields.name, fields.provider, fields.model) == ("Scout", "claude", "claude-sonnet-4-6")
    assert fields.command == "my-agent --acp 'two words'"
    assert fields.wanted_permissions is Permissions.APPROVE_ALL
    assert fields.mcp_servers["notes"].record("notes").command == ("notes-server", "--quiet")
    assert fields.mcp_servers["notes"].record("notes").environment == {"LEVEL": "3"}
    assert fields.mcp_servers["web"].record("web").url == "https://tools.example.org/mcp"
    assert fields.env == {"COLOUR": "green", "DEBUG": "true"}
    assert fields.additional_dirs is not None
    assert [(each.name, each.path, each.mode) for each in fields.additional_dirs] == [
        ("photos", "/srv/photos", "rw")
    ]
    assert (fields.tools, fields.max_turns, fields.locale) == (["chat"], 12, "de-AT")
    assert (fields.budget.tokens_per_day, fields.budget.usd_per_month) == (200_000, 5.0)
    assert fields.hosts == (HostPort(host="a.example", port=443),)
    assert (file.body, file.is_template) == ("You are a scout.", True)


def test_an_empty_file_and_an_old_plain_text_say_no_field() -> None:
    for text in ("", "You are kind. {{ really }}"):
        file = parse(text)

        assert (file.body, file.is_template, file.fields.provider) == (text, False, None)


def test_a_name_without_a_value_is_as_if_it_were_not_there() -> None:
    assert parse("---\nmodel:\nprovider: claude\n---\n").fields.model is None


@pytest.mark.parametrize(
    ("written", "field", "allowed"),
    [
        ("permissions: maybe", "permissions", "'deny-all', 'approve-reads' or 'approve-all'"),
        ("permission: deny-all", "permission", "Did you mean permissions?"),
        ("whatever: 1", "whatever", "Known are: additional_dirs, budget, command"),
        ("name: 7", "name", "be a text."),
        ("name: ''", "name", "1 character"),
        ("provider: Claude!", "provider", "[a-z0-9]"),
        ('command: "my \'agent"', "command", "a command as for a shell"),
        ("command: ''", "command", "the name of a program"),
        ("model: 'a b'", "model", "of the form"),
        ("max_turns: 0", "max_turns", "at least 1"),
        ("max_turns: 1.5", "max_turns", "be a whole number."),
        ("max_turns: true", "max_turns", "be a whole number."),
        ("budget: 5", "budget", "a table"),
        ("budget: {tokens_per_day: -1}", "budget.tokens_per_day", "at least 1"),
        ("budget: {usd_per_month: 0}", "budget.usd_per_month", "greater than 0"),
        ("budget: {usd: 1}", "budget.usd", "Known are: tokens_per_day, usd_per_month"),
        ("tools: chat", "tools", "a list"),
        ("tools: [chat, mail]", "tools[1]", "'chat', 'tasks', 'groups' or 'spawn'"),
        ("egress: ['10.0.0.1:443']", "egress[0]", "host:port with a name"),
        ("egress: ['example.org']", "egress[0]", "such as a.example:443"),
        ("egress: ['example.org:99999']", "egress[0]", "host:port"),
        ("egress: ['[::1]:443']", "egress[0]", "host:port"),
        ("locale: 'x y'", "locale", "of the form"),
        ("env: {LD_PRELOAD: x}", "env", "without LD_PRELOAD"),
        ("env: {PATH: /x}", "env", "which Dovecote sets itself"),
        ("env: {PATH: /x, ENV: y, LD_X: z}", "env", "without ENV, LD_X, which make programs load"),
        ("env: {PATH: /x, ENV: y, HOME: z}", "env", "and without PATH, HOME, which Dovecote sets itself"),
        ("env: {dovecote_model: x}", "env", "which Dovecote sets itself"),
        ("env: {A-B: x}", "env.A-B", "of the form"),
        ("env: {A: [1]}", "env.A", "be a text."),
        ("mcp_servers: {x: {}}", "mcp_servers", "either command or url"),
        ("mcp_servers: {x: {command: a, url: 'https://b'}}", "mcp_servers", "either command or url"),
        ("mcp_servers: {dovecote: {command: a}}", "mcp_servers", "the server of Dovecote itself"),
        ("mcp_servers: {dovecote: {}, y: {}}", "mcp_servers", "and a table with either command or url at y"),
        ("mcp_servers: {x: {command: a, cmd: b}}", "mcp_servers.x.cmd", "Did you mean"),
        (
            "mcp_servers: {x: {command: a, env: {NODE_OPTIONS: b}}}",
            "mcp_servers.x.env",
            "without NODE_OPTIONS",
        ),
        ("mcp_servers: {x: {url: 'ftp://b'}}", "mcp_servers.x.url", "https://host"),
        ("mcp_servers: {x: {url: 'https://u:p@b'}}", "mcp_servers.x.url", "without user"),
        ("additional_dirs: /srv", "additional_dirs", "a list"),
        ("additional_dirs: [/srv]", "additional_dirs[0]", "a table"),
        ("additional_dirs: [{path: /srv}]", "additional_dirs[0].name", "Add name"),
        ("additional_dirs: [{name: a, path: srv}]", "additional_dirs[0].path", "an absolute path"),
        ("additional_dirs: [{name: ../a, path: /srv}]", "additional_dirs[0].name", "of the form"),
        ("additional_dirs: [{name: a, path: /srv, mode: w}]", "additional_dirs[0].mode", "'ro' or 'rw'"),
    ],
)
def test_a_wrong_field_is_named_with_its_line_and_what_it_may_be(
    written: str, field: str, allowed: str
) -> None:
    with pytest.raises(InvalidSettings) as refused:
        parse(f"---\n# first\n{written}\n---\n")

    assert refused.value.message.startswith(f"groups/x/AGENT.md line 3 has the field {field}, which ")
    assert allowed in (refused.value.suggestion or "")


def test_all_wrong_fields_are_named_each_once_in_the_order_of_their_lines() -> None:
    text = (
        "---\nmax_turns: many\ncolour: red\npermissions: maybe\nmcp_servers:\n  a:\n    url: ftp://x\n"
        "egress: [nowhere]\n---\n" + "x" * (MAX_BODY_BYTES + 1)
    )

    with pytest.raises(SeveralFaults) as refused:
        parse(text)

    told = [(fault.message, fault.suggestion) for fault in refused.value.faults]
    wanted = [
        ("groups/x/AGENT.md line 2 has the field max_turns, which is 'many'.", "a whole number"),
        ("groups/x/AGENT.md line 3 has the field colour, which is not known here.", "Known are"),
        ("groups/x/AGENT.md line 4 has the field permissions, which is 'maybe'.", "'approve-reads'"),
        ("groups/x/AGENT.md line 7 has the field mcp_servers.a.url, which is 'ftp://x'.", "https://"),
        ("groups/x/AGENT.md line 8 has the field egress[0], which is 'nowhere'.", "host:port"),
        ("groups/x/AGENT.md line 10 begins a text of 65,537 bytes", "Shorten"),
    ]
    assert len(told) == len(wanted)
    for (message, suggestion), (what, mend) in zip(told, wanted, strict=True):
        assert message.startswith(what)
        assert mend in (suggestion or "")
    assert str(refused.value).count("\n") == len(wanted) - 1


def test_what_is_missing_hides_nothing_that_is_wrong_beside_it() -> None:
    with pytest.raises(SeveralFaults) as refused:
        parse("---\nadditional_dirs:\n  - {path: srv, mode: w}\n---\n")

    assert [fault.message.split()[6].rstrip(",") for fault in refused.value.faults] == [
        "additional_dirs[0].name",
        "additional_dirs[0].path",
        "additional_dirs[0].mode",
    ]


def test_of_very_many_faults_the_first_are_told_and_the_others_counted() -> None:
    text = "---\n" + "".join(f"odd_{number}: 1\n" for number in range(20)) + "---\n"

    with pytest.raises(SeveralFaults) as refused:
        parse(text)

    lines = str(refused.value).split("\n")
    assert (len(lines), lines[-1]) == (13, "And 8 more.")
    assert len(refused.value.faults) == 20


def test_a_body_that_is_too_long_is_refused_not_cut() -> None:
    with pytest.raises(InvalidSettings, match=r"65,537 bytes; at most 65,536"):
        parse("---\n---\n" + "x" * (MAX_BODY_BYTES + 1))
