"""The listener: takes requests in, keeps them, and has them answered."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from tests.support.model_server.answering import (
    Playback,
    answer_json,
    answer_plainly,
    refuse,
)
from tests.support.model_server.asked import Malformed
from tests.support.model_server.authority import Authority
from tests.support.model_server.exchange import ConnectionEnded, Exchange, Receive, Send
from tests.support.model_server.playing import Playing, echo
from tests.support.model_server.received import Received
from tests.support.model_server.routes import Plain, Route, route
from tests.support.model_server.script import Answer, Fail, Gate, Rule

_BACKLOG: Final = 1_024
_GRACE_S: Final = 5


class ModelServer:
    """Answers by its rules, and remembers what it was asked.

    url: the base URL. credential: the key that every call must bring; None: any or none is right.
    prefix: stands in front of every path, as with a provider behind a gateway. on_over: told of every request
    whose answer has ended.
    """

    def __init__(self, *, credential: str | None, prefix: str) -> None:
        self.url = ""
        self.port = 0
        self.authority: Authority | None = None
        self.requests: list[Received] = []
        self.on_over: Callable[[Received], None] = lambda _: None
        self._credential = credential
        self._prefix = prefix
        self._playing = Playing(())
        self._gates: dict[str, Gate] = {}
        self._faults: list[Exception] = []
        self._state = ServerState()

    def play(self, *rules: Rule) -> None:
        """Answer by these rules from now on, and by no earlier ones."""
        self._playing = Playing(rules)

    def gate(self, name: str) -> Gate:
        """The gate that a step `Wait` of this name stands at."""
        return self._gates.setdefault(name, Gate())

    def forget(self) -> None:
        """Forget every request so far."""
        self.requests.clear()

    @property
    def model_calls(self) -> Sequence[Received]:
        """The requests that wanted a model's answer and could be read."""
        return [each for each in self.requests if each.asked is not None]

    @contextlib.asynccontextmanager
    async def listening(self, *, port: int = 0, authority: Authority | None = None) -> AsyncIterator[None]:
        """Answer on 127.0.0.1 until the end of the block; then every connection is dropped.

        Raises ExceptionGroup at the end when the server itself has failed.
        """
        config = _config(self._application, authority)
        config.load()
        protocol = partial(H11Protocol, config=config, server_state=self._state, app_state={})
        loop = asyncio.get_running_loop()
        listener = await loop.create_server(
            protocol, host="127.0.0.1", port=port, ssl=config.ssl, backlog=_BACKLOG
        )
        self.port = listener.sockets[0].getsockname()[1]
        self.authority = authority
        scheme = "http" if authority is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self.port}{self._prefix}"
        try:
            yield
        finally:
            listener.close()
            await self._all_gone()
        if self._faults:
            raise ExceptionGroup("the model server has failed", self._faults)

    def drop_connections(self) -> None:
        """As if the provider's machine had died: every connection ends at once."""
        for connection in list(self._state.connections):
            connection.transport.abort()

    async def _all_gone(self) -> None:
        async with asyncio.timeout(_GRACE_S):
            while self._state.connections or self._state.tasks:
                self.drop_connections()
                await asyncio.sleep(0)

    async def _application(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        received = _received(scope)
        self.requests.append(received)
        exchange = Exchange(
            received,
            receive=receive,
            send=send,
            drop=lambda: self._drop_one(scope["client"]),
        )
        try:
            await self._take(exchange, receive)
        except Exception as fault:
            # The HTTP library would log it and go on; so it is raised where the server is closed.
            self._faults.append(fault)
            raise

    async def _take(self, exchange: Exchange, receive: Receive) -> None:
        received = exchange.received
        try:
            received.body = await _body(receive)
            await self._answer(exchange)
        except ConnectionEnded:
            pass
        finally:
            received.is_over = True
            self.on_over(received)

    async def _answer(self, exchange: Exchange) -> None:
        received = exchange.received
        path = received.path
        chosen = None
        if path.startswith(f"{self._prefix}/"):
            headers = received.headers
            chosen = route(received.method, path.removeprefix(self._prefix), received.query, headers)
        if chosen is None:
            await self._answer_elsewhere(exchange)
        elif self._credential not in (None, chosen.wire.credential(received.headers, received.query)):
            await refuse(exchange, chosen.wire, Fail(status=401, message="This is not the right key."))
        else:
            await self._answer_call(exchange, chosen)

    async def _answer_elsewhere(self, exchange: Exchange) -> None:
        rule = self._playing.choose(exchange.received.path, None)
        if rule is not None and isinstance(rule.steps[0], Answer):
            await answer_plainly(exchange, rule.steps[0])
            return
        said = f"There is no {exchange.received.method} {exchange.received.path} here."
        await answer_json(exchange, {"error": {"type": "not_found_error", "message": said}}, status=404)

    async def _answer_call(self, exchange: Exchange, chosen: Route) -> None:
        received = exchange.received
        if isinstance(chosen, Plain):
            await answer_json(exchange, chosen.answer)
            return
        try:
            received.asked = asked = chosen.wire.read(_object(received.body))
        except Malformed as error:
            await refuse(exchange, chosen.wire, Fail(status=400, message=str(error)))
            return
        rule = self._playing.choose(received.path, asked) or echo(asked)
        await Playback(exchange, chosen.wire, asked, rule, gates=self.gate).run()

    def _drop_one(self, client: object) -> None:
        for connection in list(self._state.connections):
            if isinstance(connection, H11Protocol) and connection.client == client:
                connection.transport.close()


@contextlib.asynccontextmanager
async def running_model_server(
    *,
    credential: str | None = None,
    prefix: str = "",
    port: int = 0,
    authority: Authority | None = None,
) -> AsyncIterator[ModelServer]:
    """A model server on this machine until the end of the block. authority: it speaks TLS with this one's
    certificate."""
    server = ModelServer(credential=credential, prefix=prefix)
    async with server.listening(port=port, authority=authority):
        yield server


def _config(application: Any, authority: Authority | None) -> Config:
    return Config(
        application,
        interface="asgi3",
        http="h11",
        proxy_headers=False,
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_keep_alive=60,
        ssl_certfile=None if authority is None else authority.certificate_file,
        ssl_keyfile=None if authority is None else str(authority.key_file),
    )


def _received(scope: dict[str, Any]) -> Received:
    lines = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
    return Received(
        method=scope["method"],
        path=scope["raw_path"].decode("ascii"),
        query=scope["query_string"].decode("latin-1"),
        headers={name.lower(): value for name, value in lines},
        header_lines=lines,
        body=b"",
    )


async def _body(receive: Receive) -> bytes:
    """All of it; raises ConnectionEnded when the client goes before its end."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionEnded
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError as error:
        raise Malformed(f"the body is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise Malformed("the body is no object")
    return found
