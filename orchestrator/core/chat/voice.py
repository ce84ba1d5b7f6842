"""What was spoken, as words of a message: marked, so that nobody takes it for what was written."""


def with_transcript(text: str, words: str) -> str:
    """The message's text, and below it what a program heard in its sound."""
    return f"{text}\n[Transcript: {words}]"


def without_transcript(text: str) -> str:
    """The same where no program heard anything in time."""
    return f"{text}\n[No transcript: listen to the file, if you can]"
