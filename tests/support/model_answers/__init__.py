"""What an answer says, read as a client of each wire format reads it; written from the API references."""

from tests.support.model_answers.put import Put

__all__ = ["Put"]
