"""The Docker engine, seen through the `docker` package: one place for its errors and its threads."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, TypeVar
from urllib.parse import urlsplit

import docker
import docker.errors
import requests.exceptions

from orchestrator.contracts.errors import ErrorCode, StartFailed, Unavailable

T = TypeVar("T")

CALL_TIMEOUT_S: Final = 30
_MOST_CONNECTIONS: Final = 64
# A waiter holds a thread for as long as its agent lives, so waits must never keep calls from running.
_MOST_WAITS: Final = 1000


class Engine:
    """A connection to the engine, made when it is first used. url: None is the usual Unix socket."""

    def __init__(self, url: str | None = None) -> None:
        self.url = url or "unix:///var/run/docker.sock"
        self._client: docker.DockerClient | None = None
        self.calls = ThreadPoolExecutor(max_workers=8, thread_name_prefix="docker")
        self.waits = ThreadPoolExecutor(max_workers=_MOST_WAITS, thread_name_prefix="docker-wait")

    async def call(self, body: Callable[[docker.DockerClient], T]) -> T:
        """Run `body` in a thread. Raises Unavailable when the engine is away; its own errors pass."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.calls, self.run, body)

    def run(self, body: Callable[[docker.DockerClient], T]) -> T:
        """The same, in a thread that may block."""
        with engine_errors(self.url):
            _knock(self.url)
            if self._client is None:
                self._client = docker.DockerClient(
                    base_url=self.url,
                    version="auto",
                    timeout=CALL_TIMEOUT_S,
                    max_pool_size=_MOST_CONNECTIONS,
                )
            return body(self._client)

    def close(self) -> None:
        """Give back threads and connections. Blocks until calls that were begun have ended."""
        self.calls.shutdown()
        self.waits.shutdown(wait=False)
        if self._client is not None:
            self._client.close()


def _knock(url: str) -> None:
    """Raises OSError where nobody listens: the package leaves a socket open behind each failed attempt."""
    place = urlsplit(url)
    if place.scheme == "unix":
        with socket.socket(socket.AF_UNIX) as door:
            door.settimeout(CALL_TIMEOUT_S)
            door.connect(place.path)


@contextmanager
def engine_errors(url: str) -> Iterator[None]:
    """Put an engine that does not answer, and one that refuses, into our words."""
    try:
        yield
    except (docker.errors.NotFound, docker.errors.BuildError):
        raise
    except docker.errors.APIError as error:
        raise StartFailed(
            f"The Docker engine refused: {error.explanation or error}.",
            suggestion="Run `dovecote doctor`.",
        ) from error
    except (docker.errors.DockerException, requests.exceptions.RequestException, OSError) as error:
        raise Unavailable(
            f"No Docker engine answers at {url}: {_reason(error)}.",
            code=ErrorCode.RUNNER_UNAVAILABLE,
            suggestion="Start it (sudo systemctl start docker) and see that this user may use its socket.",
        ) from error


def _reason(error: BaseException) -> str:
    """The innermost cause that says something, without the package's layers around it."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return getattr(error, "strerror", None) or str(error)
