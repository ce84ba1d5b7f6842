"""How a file that the assistant sent is shown in a terminal: its name, its size, and where it lies."""

from orchestrator.api.chat_watch import SentFile, SentText
from orchestrator.core.text_cleaning import clean_name


def shown_lines(text: SentText) -> list[str]:
    """A text as it is, and below it the file that came with it."""
    lines = [text.text] if text.text or text.file is None else []
    return lines if text.file is None else [*lines, file_line(text.file)]


def file_line(file: SentFile) -> str:
    """`[report.pdf, 12 kB] /home/…/report.pdf`."""
    return f"[{clean_name(file.name)}, {shown_size(file.size_bytes)}] {file.path}"


def shown_size(size_bytes: int) -> str:
    """A number of bytes for people: `512 B`, `1.2 MB`."""
    amount, units = float(size_bytes), ("B", "kB", "MB", "GB")
    unit = 0
    while amount >= 1000 and unit < len(units) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f} {units[unit]}" if unit == 0 or amount >= 10 else f"{amount:.1f} {units[unit]}"
