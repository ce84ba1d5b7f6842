"""The engine behind a socket of our own, so that a test can let it die: `python relay.py FROM TO`."""

import asyncio
import sys


async def serve(path: str, engine: str) -> None:
    """Pass every connection to `path` on to `engine`, until killed."""

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_unix_connection(engine)
        async with asyncio.TaskGroup() as ways:
            ways.create_task(_pass_on(reader, back), name="there")
            ways.create_task(_pass_on(there, writer), name="back")

    async with await asyncio.start_unix_server(relay, path) as server:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await server.serve_forever()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(65_536):
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.transport.abort()


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
