"""A network for the way out: names, addresses, a meter and an agent's end, all in a test's hand."""

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path

import h11

from orchestrator.contracts.egress_seams import EgressDoor
from orchestrator.contracts.ids import AgentId, GroupFolder
from orchestrator.contracts.records.definitions import HostPort
from orchestrator.contracts.records.egress import EGRESS_SOCKET, EgressPolicy, ProviderCall, Secret
from orchestrator.contracts.records.providers import ApiCall, ProviderApi, WireFormat

PUBLIC = "93.184.216.34"
CANARY = "sk-canary-8f2e"


class CountedUse:
    """A `UsageMeter` that keeps the calls. reason: why the budget is spent. may_record: cleared by a
    test that wants the keeping to take its time."""

    def __init__(self) -> None:
        self.calls: list[ProviderCall] = []
        self.reason: str | None = None
        self.may_record = asyncio.Event()
        self.may_record.set()

    async def why_not(self, agent: AgentId, group: GroupFolder) -> str | None:
        """The reason that the test has set."""
        return self.reason

    async def record(self, call: ProviderCall) -> None:
        """Keep it."""
        await self.may_record.wait()
        self.calls.append(call)


@dataclass(slots=True)
class Network:
    """A `Resolver` and a dial. names: for each look-up of a name the next list, the last one for ever.

    ports: where an address and port lead in truth, on loopback.
    """

    names: dict[str, list[list[str]]] = field(default_factory=dict)
    ports: dict[tuple[str, int], int] = field(default_factory=dict)
    looked_up: list[str] = field(default_factory=list)
    dialled: list[tuple[str, int]] = field(default_factory=list)

    async def addresses(self, host: str) -> list[str]:
        """The next answer for the name."""
        self.looked_up.append(host)
        answers = self.names.get(host, [[]])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def dial(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to where the address leads."""
        self.dialled.append((address, port))
        if (address, port) not in self.ports:
            raise ConnectionRefusedError(f"nobody is at {address}:{port}")
        return await asyncio.open_connection("127.0.0.1", self.ports[address, port])


API = ProviderApi(
    base="https://api.provider.test/base",
    wire=WireFormat.ANTHROPIC,
    calls=(
        ApiCall(method="POST", path="/v1/messages"),
        ApiCall(method="POST", path="/v1/messages/count_tokens"),
        ApiCall(method="GET", path="/v1/models"),
        ApiCall(method="GET", path="/v1/models/*"),
    ),
    auth_header="x-api-key",
    auth_scheme="",
)
POLICY = EgressPolicy(
    agent_id=AgentId("agent-one"),
    group=GroupFolder("family"),
    api=API,
    credential=Secret(CANARY),
    hosts=(HostPort(host="files.example.org", port=443),),
)
POLICY_OF_ANOTHER = replace(POLICY, agent_id=AgentId("agent-two"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer as an agent's program reads it. is_whole: it ended where it said it would."""

    status: int
    headers: dict[str, str]
    body: bytes
    is_whole: bool = True


def request(method: str, target: str, *headers: str, body: bytes = b"") -> bytes:
    """A request in bytes: with a Host, a length if there is a body, and an end after it."""
    lines = [f"{method} {target} HTTP/1.1", "Host: 127.0.0.1:18080", "Connection: close", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def message(body: bytes = b'{"model":"m","messages":[]}', *headers: str) -> bytes:
    """A request that sends a message."""
    return request("POST", "/v1/messages", *headers, body=body)


async def connect(door: EgressDoor) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """The agent's end of a connection through the socket."""
    return await asyncio.open_unix_connection(str(door.directory / EGRESS_SOCKET))


async def sent(door: EgressDoor, raw: bytes) -> bytes:
    """Send the bytes, and read until the proxy hangs up."""
    reader, writer = await connect(door)
    try:
        async with asyncio.timeout(30):
            writer.write(raw)
            return await read_all(reader)
    finally:
        writer.transport.abort()


async def read_all(reader: asyncio.StreamReader) -> bytes:
    """All that comes; a connection that is broken off ends it too."""
    came = bytearray()
    try:
        while piece := await reader.read(65_536):
            came += piece
    except ConnectionError:
        pass
    return bytes(came)


async def asked(door: EgressDoor, raw: bytes) -> Answered:
    """Send one request, and read its answer."""
    return parsed(await sent(door, raw), method=raw.split(b" ", 1)[0].decode())


def parsed(raw: bytes, *, method: str = "GET") -> Answered:
    """The first answer in the bytes."""
    assert raw, "the proxy hung up without an answer"
    http = h11.Connection(h11.CLIENT)
    http.send(h11.Request(method=method, target="/", headers=[("host", "x")]))
    http.send(h11.EndOfMessage())
    http.receive_data(raw)
    http.receive_data(b"")
    head = http.next_event()
    assert isinstance(head, h11.Response), f"no answer in {raw[:200]!r}"
    headers = {name.decode(): value.decode() for name, value in head.headers}
    body = bytearray()
    try:
        while isinstance(event := http.next_event(), h11.Data):
            body += event.data
    except h11.RemoteProtocolError:
        return Answered(status=head.status_code, headers=headers, body=bytes(body), is_whole=False)
    return Answered(status=head.status_code, headers=headers, body=bytes(body))


def socket_of(directory: Path) -> Path:
    """The socket in a door's directory."""
    return directory / EGRESS_SOCKET
