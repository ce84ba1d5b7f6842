"""What a program that answers in chats says in parts: text, code, tables, formulas, pictures."""

from typing import Any, Final

from orchestrator.channels.whatsapp.content_words import Content, bracketed, join_lines, joined

_MAX_PARTS: Final = 200


def machine_answer(message: Any) -> Content:
    """The parts one below another; if there is nothing to read in them it wakes nobody."""
    parts = [_words(part) for part in message.submessages[:_MAX_PARTS]]
    left = len(message.submessages) - _MAX_PARTS
    text = join_lines(*parts, f"[… and {left} more parts]" if left > 0 else "")
    if not text:
        return Content(text="[Answer of an AI, not shown here]", context=message, is_context_only=True)
    return Content(text=text, context=message)


def _words(part: Any) -> str:
    picture = part.imageMetadata.imageText
    films = [each.reelItem for each in part.contentItemsMetadata.itemsMetadata]
    return join_lines(
        part.messageText,
        _code(part.codeMetadata),
        _table(part.tableMetadata),
        part.latexMetadata.text,
        bracketed("Photo", picture) if picture else "",
        *[joined(place.title, place.body) for place in part.mapMetadata.annotations],
        *[joined(film.title, film.videoURL) for film in films],
    )


def _code(code: Any) -> str:
    content = "".join(block.codeContent for block in code.codeBlocks)
    return f"```{code.codeLanguage}\n{content}\n```" if content else ""


def _table(table: Any) -> str:
    return join_lines(table.title, *[" | ".join(row.items) for row in table.rows])
