"""What drivers of a model's program say to people in their own words."""

from typing import Final

SESSION_GONE: Final = "(Our earlier conversation could not be found any more, so I begin afresh.)"
OUT_OF_STEPS: Final = "I stopped because this took more steps than I may take at once. Shall I go on?"
REFUSED: Final = "I can't help with that request."
CUT_SHORT: Final = "(My answer grew too long and ends here.)"
