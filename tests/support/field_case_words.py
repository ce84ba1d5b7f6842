"""The faults from the field by part: id and what went wrong; and why some of them are not built."""

from collections.abc import Mapping
from typing import Final

_LOSS: Final = {
    "A1": "A handler failed behind the cursor, and its message was skipped",
    "A2": "The second of two messages with one time was passed over",
    "A4": "Follow-ups that an agent had not read went with it",
    "A6": "A warm agent answered its first message and never another",
    "A8": "An agent with its own user could not clear its box",
    "A9": "No agent could be started, and the chat saw only silence",
    "A10": "A text that could not be sent was told to nobody",
    "A11": "The model was busy, and the messages were given up silently",
    "A12": "A turn said nothing and its message counted as answered",
    "A14": "Of two messages in a row the second was left out",
    "A16": "A message was not kept when its run failed early",
    "A18": "What came from an unregistered chat vanished without a line",
    "A19": "A waiting text was taken off its queue before it left",
}
_DOUBLES: Final = {
    "B1": "Each reconnect added a reader, and an answer for each",
    "B2": "A timeout after an answer ran the message again for ever",
    "B4": "A task that still ran was started again at its next time",
    "B5": "A restart in the middle of a task ran it twice",
    "B7": "The assistant took its own texts for somebody's and answered them",
    "B8": "The network brought a message twice, and both were answered",
    "B11": "Two senders were at one chat and said everything twice",
    "B13": "People saw an error and then, after a retry, the answer",
}
_HISTORY: Final = {
    "C1": "A lost cursor gave the agent a heap of old messages",
    "C2": "A long chat was read as a whole at each look",
    "C3": "A follow-up broke into a turn, or any text ended it",
}
_BOXES: Final = {
    "D-b": "Requests waited for the next look at the directory",
    "D-c": "Watches died unseen, or used up the descriptors",
    "D-d": "The list of tasks did not show what was just planned",
    "D-e": "Nobody had tested to which chats an agent may write",
    "D-f": "Links, pipes and broken files in a box led the host astray",
    "D-g": "A group that an agent registered lacked its agent file",
}
_CONTAINERS: Final = {
    "E1": "Only the engine's client was killed; its container ran on for hours",
    "E2": "What earlier lives had started piled up after restarts",
    "E3": "Clearing up hit containers of somebody else by their names",
    "E4": "A stop that the engine refused was logged as done",
    "E5": "Containers stayed between the stop of the service and its start",
    "E7": "A task that said nothing kept its agent for half an hour",
    "E8": "One agent took all processors or all the memory",
    "E9": "A slow model was killed though it was at work",
    "E11": "A mount was missing after a restart and nothing showed it",
    "E13": "A new host with an old image failed without a reason",
    "E14": "Each message paid for a cold start, and no log told",
}
_TASKS: Final = {
    "F1": "Agents lived in UTC, and nine o'clock was another hour",
    "F2": "A user far from the server was reminded hours off",
    "F3": "A cron line without a zone was read as UTC",
    "F4": "A run by hand moved the task's own schedule",
    "F5": "An odd TZ in the environment stopped the start",
    "F7": "The task of a removed group came due again each minute",
    "F8": "A single run in the past never went or went at once",
    "F9": "Nothing said what becomes of runs missed while it was down",
    "F10": "One failed run ended a whole series",
    "F12": "A full provider cost a weekly task its week",
    "F13": "Only the agent itself could stop its runaway task",
    "F14": "A task's script wanted silence, and a message came all the same",
    "F15": "A task spoke to whoever had written last",
}
_NETWORK: Final = {
    "G1": "Reconnects without a pause filled the log with tries",
    "G2": "After the machine's sleep the link was lost again and again",
    "G3": "One expired login ended the process and all other channels",
    "G4": "An old connection's handlers fought with the new one's",
    "G5": "The chat with oneself came under a second id, unregistered",
    "G6": "A person was unknown when only the message had the second id",
    "G8": "What could not be decrypted in a new group vanished unseen",
    "G10": "A place on one group's list opened all groups of that person",
    "G13": "Texts left without any limit of their rate",
    "G14": "One message that broke a handler stopped all that followed",
    "G15": "A watchdog of silence ended each link that was made anew",
    "G16": "Messages in wrappers, as edits and vanishing ones, were not read",
    "G17": "Groups fell silent while direct chats went on, unnoticed",
    "G18": "The network refused an outdated version at every connection",
}
_SAFETY: Final = {
    "H1": "Words of strangers, read by the agent, steered it",
    "H2": "A key was in an environment or in a left file",
    "H3": "A name was put into a line for a shell",
    "H4": "An agent could change files that the host runs or trusts",
    "H5": "The program inside could be changed and stayed so",
    "H7": "A wrong list of mounts was ignored, or refused without saying why",
    "H9": "A member commanded with the rights of the group",
    "H11": "A group closed to all was answered, with inner error words",
    "H12": "What one group knew turned up in another",
    "H14": "The log held what people wrote",
    "H15": "A word of somebody without rights woke the agent",
    "H16": "It was installed by scripts from the web, outside of any container",
}
_COST: Final = {
    "I1": "Nobody saw or bounded what each group spent",
    "I2": "A conversation's file grew until it was dropped without a word",
    "I4": "Old conversations were kept without end and filled the disk",
    "I5": "The log grew to gigabytes, mostly with one error",
    "I6": "A conversation too long for its model was stuck for good",
    "I7": "Large outputs of tools were carried along for ever",
    "I8": "That a limit is reached was said again and again",
}
_USE: Final = {
    "J1": "There was no answer, and nothing told why",
    "J4": "The assistant's name in mid-sentence was not heard",
    "J5": "Added to a group, it did nothing and asked nobody",
    "J6": "The main group hung on a folder's name and lost its rights",
    "J9": "A failed update could not be taken back with its data",
    "J10": "A dead dependency was called for hours without a pause",
    "J11": "One character or quote in the settings stopped the start",
    "J12": "The service ended when its user logged out",
    "J13": "To change anything one had to fork and merge for ever",
}
_MEDIA: Final = {
    "K1": "Photos and voice messages never reached the agent",
    "K3": "Voice messages were written down at some times and not at others",
    "K4": "The turn began before the words of a voice message were there",
    "K5": "Heard words looked like written ones",
    "K6": "Agents could not send files, or any file at all",
    "K7": "Long answers were cut at the network's limit",
}
_TREES: Final = {
    "L1": "Helpers died when the agent that led them ended its turn",
    "L2": "A helper's answer went to another conversation than its caller's",
    "L4": "A model took a look-alike tool and nobody got its message",
    "L5": "A group had one conversation where its threads needed several",
}
_DEFECTS: Final = {
    "D-1": "The cursor was a time, and equal times lost a message",
    "D-2": "A late message with an older time was never seen",
    "D-3": "A bound on the prompt passed over a call for the agent",
    "D-4": "The cursor moved before the run, and a crash lost the batch",
    "D-5": "A shutdown left agents whose messages the next start lost",
    "D-6": "A follow-up counted as delivered before anybody read it",
    "D-7": "Files left unread were taken in by another agent",
    "D-8": "A link in a box's place made the host remove others' files",
    "D-9": "A link in a snapshot's place made the host overwrite its target",
    "D-10": "A pipe named like a request stopped the whole host",
    "D-12": "An agent's text or child forged the end of an answer",
    "D-16": "A short disconnection lost what an agent wanted to send",
    "D-17": "Single and repeated runs used two different timezones",
    "D-19": "Without a channel a run counted as done and nothing came",
    "D-20": "A refused request was answered as if it had worked",
}
CASES: Final[Mapping[str, Mapping[str, str]]] = {
    "A. Lost messages": _LOSS,
    "B. Doubles and loops": _DOUBLES,
    "C. Cursors and history": _HISTORY,
    "D. Boxes": _BOXES,
    "E. Containers": _CONTAINERS,
    "F. Tasks and time": _TASKS,
    "G. WhatsApp": _NETWORK,
    "H. Safety": _SAFETY,
    "I. Cost and disk": _COST,
    "J. Setting up and use": _USE,
    "K. Media": _MEDIA,
    "L. Agents together": _TREES,
    "D-n. Defects in the source of NanoClaw 1.x": _DEFECTS,
}
NOT_BUILT: Final[Mapping[str, str]] = {
    "F14": "tasks are prompts; none has a script of its own that could ask for silence",
    "H16": "Dovecote runs on the machine itself; in a container its paths would mean others to the engine",
    "L5": "a chat has one conversation: neither the terminal nor WhatsApp has threads",
}
PARTLY: Final[Mapping[str, str]] = {
    "H1": "what an agent read on the network lowers no rights; `egress` and the walls bound it",
    "J13": "a channel of one's own is a module and a line in the catalogue, not a plug-in",
}
"""Of cases that tests hold: the rest."""
