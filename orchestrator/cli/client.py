"""Speaking to the running orchestrator: HTTP on its Unix socket, with the operator's token."""

import asyncio
from types import TracebackType
from typing import Any, Final, Self

import httpx

from orchestrator.api.operator_token import read_operator_token
from orchestrator.api.render_errors import from_body
from orchestrator.contracts.errors import DovecoteError, ErrorCode
from orchestrator.paths import Paths
from orchestrator.store.instance_lock import holder_pid

_START_WAIT_S: Final = 15.0
_RETRY_S: Final = 0.1


class NotRunning(DovecoteError):
    """Nobody answers."""

    code = ErrorCode.NOT_RUNNING


class ApiClient:
    """Calls routes of the management API; every failure is a `DovecoteError`."""

    def __init__(self, paths: Paths, token: str) -> None:
        self._paths = paths
        transport = httpx.AsyncHTTPTransport(uds=str(paths.socket))
        self._http = httpx.AsyncClient(
            transport=transport,
            base_url="http://dovecote",
            headers={"Authorization": f"Bearer {token}"},
            trust_env=False,
        )

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        query: dict[str, str] | None = None,
        timeout_s: float = 30,
    ) -> Any:
        """The JSON answer. Raises the error that the orchestrator gave, or NotRunning."""
        try:
            answer = await self._http.request(method, path, json=body, params=query, timeout=timeout_s)
        except httpx.ConnectError:
            raise not_running(self._paths) from None
        except httpx.TimeoutException:
            raise DovecoteError(
                f"The orchestrator did not answer within {timeout_s:.0f} s.",
                code=ErrorCode.TIMEOUT,
                suggestion="Look into its log in data/logs; if it hangs, stop that process and start again.",
            ) from None
        except httpx.TransportError:
            raise NotRunning(
                "The orchestrator went away.", suggestion="Its log in data/logs says why."
            ) from None
        plain = answer.json() if answer.headers.get("content-type") == "application/json" else None
        if answer.is_error:
            raise _as_it_was(from_body(answer.status_code, plain))
        return plain

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()


def _as_it_was(error: DovecoteError) -> DovecoteError:
    """One that is stopping is no longer running, for all that a caller can do."""
    if error.code is not ErrorCode.NOT_RUNNING:
        return error
    return NotRunning(error.message, suggestion=error.suggestion)


def not_running(paths: Paths) -> NotRunning:
    """The error for a command that needs a running orchestrator."""
    return NotRunning(
        f"No orchestrator runs in {paths.home}.",
        suggestion="Start one with `dovecote serve`, or name another home with --home.",
    )


async def running_client(paths: Paths, *, stop_wait_s: float = 0) -> ApiClient | None:
    """A client of the orchestrator that holds this home, once it answers; None if none does.

    One that is just starting is waited for, and so is the end of one that is stopping, which may take
    `stop_wait_s` longer. Raises DovecoteError when one runs but does not answer.
    """
    pid: int | None = None
    for _ in range(round((_START_WAIT_S + stop_wait_s) / _RETRY_S)):
        pid = await asyncio.to_thread(holder_pid, paths.lock)
        if pid is None:
            return None
        token = read_operator_token(paths.operator_token)
        if token is not None:
            client = ApiClient(paths, token)
            try:
                await client.call("GET", "/api/health", timeout_s=5)
            except NotRunning:
                await client.__aexit__(None, None, None)
            else:
                return client
        await asyncio.sleep(_RETRY_S)
    raise DovecoteError(
        f"An orchestrator (process {pid}) holds {paths.home}, but does not answer at {paths.socket}.",
        code=ErrorCode.TIMEOUT,
        suggestion="Its log in data/logs says why; if it hangs, stop that process and start again.",
    )
