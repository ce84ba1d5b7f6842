"""A text or a file on its way to the network, and what came of it. Used in the child."""

import asyncio
from typing import Any

from orchestrator.channels.whatsapp.library import Library, SendFailed
from orchestrator.channels.whatsapp.lines import Fate, NotSent, Send, Sent, Taken
from orchestrator.channels.whatsapp.port import LinePort


async def hand_over(library: Library, line: Send, port: LinePort, *, generation: int) -> Sent | NotSent:
    """Send it once. What fails before `Taken` was certainly not sent."""

    def failed(fate: Fate, why: str) -> NotSent:
        return NotSent(generation=generation, id=line.id, fate=fate, why=why[:300])

    try:
        async with asyncio.timeout(line.upload_within_s):
            content = await library.content(line.message)
    except TimeoutError:
        return failed(Fate.UNAVAILABLE, f"the file was not at the network within {line.upload_within_s:g} s")
    except SendFailed as error:
        return failed(error.fate, str(error))
    except Exception as error:  # a fault within the library; nothing has left yet
        return failed(Fate.UNAVAILABLE, _told(error))
    # In the kernel before the library hears of it: if we die now the parent knows that it may have.
    await port.write(Taken(generation=generation, id=line.id))
    try:
        receipt = await library.send(line.message.chat_jid, content)
    except SendFailed as error:
        return failed(error.fate, str(error))
    except Exception as error:  # a fault within the library; whether the text had left, nobody knows
        return failed(Fate.UNKNOWN, _told(error))
    sent_at, message_id = receipt.sent_at, receipt.message_id
    return Sent(generation=generation, id=line.id, message_id=message_id, sent_at=sent_at)


def _told(error: Any) -> str:
    return f"{type(error).__name__}: {error}"
