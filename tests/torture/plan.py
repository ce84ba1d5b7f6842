"""What happens in one run of the rig, all of it drawn from a seed: the same seed gives the same plan."""

from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final

CHATS: Final = ("kitchen", "garden", "shed")
CHECKPOINTS: Final = (
    *("inbound.committed", "batch.dispatched", "agent.started", "agent.ready", "agent.dead"),
    *("pair.read", "outbox.committed", "outbox.claimed", "outbox.sent", "turn_ended.read"),
    *("request.committed", "reply.written", "tasks.claimed"),
    *("follow_up.staged", "follow_up.committed", "follow_up.published"),
)


class Wish(StrEnum):
    """What somebody writes that an agent should do; `script` has how it is done."""

    PLAIN = "plain"
    TWICE = "twice"
    SLOW = "slow"
    BY_BOX = "bybox"
    LEFT_IN_BOX = "leftinbox"
    GARBAGE = "garbage"
    MUTE = "mute"
    DIES_EARLY = "diesearly"
    DIES_LATE = "dieslate"
    FAILS = "fails"
    BUSY = "busy"
    HELPER = "helper"
    PLANS = "plans"
    BURST = "burst"


_WEIGHTS: Final = {
    **{Wish.PLAIN: 8, Wish.TWICE: 3, Wish.SLOW: 3, Wish.BY_BOX: 5, Wish.HELPER: 2},
    Wish.BURST: 6,
}


class DeedKind(StrEnum):
    """What people do in a chat."""

    ASK = "ask"
    CHATTER = "chatter"
    EDIT = "edit"
    STOP = "stop"
    RETRY = "retry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What somebody does. at_s: after the doors opened. number: of the message, also of the one edited."""

    at_s: float
    kind: DeedKind
    chat: str
    number: int = 0
    wish: Wish = Wish.PLAIN


class FaultKind(StrEnum):
    """What goes wrong while the orchestrator runs."""

    AGENT_KILLED = "agent killed"
    AGENT_PAUSED = "agent paused"
    PAUSED = "orchestrator paused"
    CLOCK_SET = "clock set"
    STORE_BUSY = "store busy"
    CHANNEL_DOWN = "channel down"
    DISK_FULL = "disk full"
    DISK_READ_ONLY = "disk read-only"
    ENGINE_DOWN = "engine down"
    CLERK_KILLED = "clerk killed"


DISK_FAULTS: Final = frozenset({FaultKind.DISK_FULL, FaultKind.DISK_READ_ONLY})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One of them. for_s: how long it lasts; of a clock: by how much it is set; of a kill: how long somebody
    to kill is waited for."""

    at_s: float
    kind: FaultKind
    for_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """From a start of the orchestrator to its kill -9, at the latest at ends_s.

    is_orderly: it is told to stop instead. rules: how the network treats texts, as of `file_channel`.
    """

    ends_s: float
    crash_at: str | None = None
    nth: int = 1
    is_orderly: bool = False
    polls_only: bool = False
    deeds: tuple[Deed, ...] = ()
    faults: tuple[Fault, ...] = ()
    rules: tuple[dict[str, object], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SummerTime:
    """The run begins so long before the task of the night in which summer time begins or ends."""

    is_spring: bool
    before_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All of a run. once_at_s: when the tasks that run once are due, after the first start.

    summer_time: None is a run on a day of 24 hours.
    """

    seed: int
    runner: str
    max_running: int
    lives: tuple[Life, ...]
    once_at_s: tuple[float, ...]
    has_hourly: bool
    summer_time: SummerTime | None = None

    def has(self, *kinds: FaultKind) -> bool:
        """Whether any life has a fault of one of these kinds."""
        return any(fault.kind in kinds for life in self.lives for fault in life.faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large a run is. own_disk: whether its home may lie on a disk of its own, which then has faults.

    long_pause_s: how long one pause in eight lasts. most_faults: of a life. nths: at which time of its crash
    point a life ends. words: how likely somebody says a word like /stop in a life.
    """

    lives: int = 4
    asks: int = 8
    life_s: float = 4.0
    runners: tuple[str, ...] = ("bubblewrap",)
    own_disk: bool = False
    long_pause_s: float | None = None
    wishes: tuple[Wish, ...] = tuple(wish for wish in Wish if wish is not Wish.BURST)
    faults: tuple[FaultKind, ...] = tuple(kind for kind in FaultKind if kind is not FaultKind.CLERK_KILLED)
    most_faults: int = 3
    nths: tuple[int, ...] = (1, 1, 2, 3, 5, 8)
    words: float = 0.15


STORM: Final = Size(
    lives=20,
    asks=55,
    wishes=(
        *(Wish.PLAIN, Wish.TWICE, Wish.BY_BOX, Wish.LEFT_IN_BOX, Wish.GARBAGE, Wish.MUTE),
        *(Wish.DIES_LATE, Wish.HELPER, Wish.PLANS, Wish.BURST),
    ),
    faults=(
        *(FaultKind.AGENT_KILLED, FaultKind.AGENT_KILLED, FaultKind.AGENT_KILLED, FaultKind.CLERK_KILLED),
        *(FaultKind.STORE_BUSY, FaultKind.CHANNEL_DOWN),
    ),
    most_faults=6,
    nths=(1, 1, 2, 5, 13, 34),
    words=0.01,
)
"""Many messages, requests and kills in little time: short lives of crowded chats, bursts into their boxes."""


def draw_plan(seed: int, size: Size) -> Plan:
    """The plan of a seed."""
    random = Random(seed)
    lives, first = [], 1
    for _ in range(size.lives):
        life = _draw_life(random, size, first=first)
        lives.append(life)
        first += sum(deed.kind in (DeedKind.ASK, DeedKind.CHATTER) for deed in life.deeds)
    total_s = size.lives * size.life_s
    return Plan(
        seed=seed,
        runner=random.choice(size.runners),
        max_running=random.choice((1, 2, 3, 5)),
        lives=tuple(lives),
        once_at_s=tuple(sorted(random.uniform(0, total_s) for _ in range(random.randint(0, 4)))),
        has_hourly=random.random() < 0.3,
        summer_time=_draw_summer_time(random, total_s),
    )


def _draw_summer_time(random: Random, total_s: float) -> SummerTime | None:
    if random.random() < 0.6:
        return None
    return SummerTime(is_spring=random.random() < 0.5, before_s=random.uniform(0, total_s))


def _draw_life(random: Random, size: Size, *, first: int) -> Life:
    ends_s = random.uniform(0.3, 1) * size.life_s
    end = random.random()
    return Life(
        ends_s=ends_s,
        crash_at=random.choice(CHECKPOINTS) if end < 0.6 else None,
        nth=random.choice(size.nths),
        is_orderly=end > 0.9,
        polls_only=random.random() < 0.2,
        deeds=_draw_deeds(random, size, first=first, ends_s=ends_s),
        faults=_draw_faults(random, size, ends_s=ends_s),
        rules=tuple(_draw_rules(random)),
    )


def _draw_deeds(random: Random, size: Size, *, first: int, ends_s: float) -> tuple[Deed, ...]:
    deeds: list[Deed] = []
    wishes, weights = size.wishes, [_WEIGHTS.get(wish, 1) for wish in size.wishes]
    for number in range(first, first + random.randint(1, size.asks)):
        at_s, chat = random.uniform(0, ends_s), random.choice(CHATS)
        kind = DeedKind.CHATTER if random.random() < 0.25 else DeedKind.ASK
        wish = random.choices(wishes, weights)[0]
        deeds.append(Deed(at_s=at_s, kind=kind, chat=chat, number=number, wish=wish))
        if random.random() < 0.1:
            later_s = at_s + random.uniform(0, 1)
            deeds.append(Deed(at_s=later_s, kind=DeedKind.EDIT, chat=chat, number=number, wish=wish))
    words = [kind for kind in (DeedKind.STOP, DeedKind.RETRY) if random.random() < size.words]
    deeds += [Deed(at_s=random.uniform(0, ends_s), kind=kind, chat=random.choice(CHATS)) for kind in words]
    return tuple(sorted(deeds, key=lambda deed: deed.at_s))


def _draw_faults(random: Random, size: Size, *, ends_s: float) -> tuple[Fault, ...]:
    found = (random.choice(_kinds(size)) for _ in range(random.randint(0, size.most_faults)))
    faults = [
        Fault(at_s=random.uniform(0, ends_s), kind=kind, for_s=_draw_length(random, size, kind))
        for kind in found
    ]
    return tuple(sorted(faults, key=lambda fault: fault.at_s))


def _kinds(size: Size) -> list[FaultKind]:
    """The faults that can be done where the run is."""
    lacking = set[FaultKind]()
    if not size.own_disk:
        lacking |= DISK_FAULTS
    if "docker" not in size.runners:
        lacking.add(FaultKind.ENGINE_DOWN)
    return [each for each in size.faults if each not in lacking]


def _draw_length(random: Random, size: Size, kind: FaultKind) -> float:
    if kind is FaultKind.CLOCK_SET:
        return random.choice((-7200.0, -600.0, -30.0, 45.0, 3700.0, 26 * 3600.0))
    is_pause = kind in (FaultKind.PAUSED, FaultKind.AGENT_PAUSED)
    if is_pause and size.long_pause_s is not None and random.random() < 1 / 8:
        return size.long_pause_s
    return random.uniform(0.2, 0.4 * size.life_s)


def _draw_rules(random: Random) -> list[dict[str, object]]:
    outcomes = ("accept", "unavailable", "unavailable", "refuse", "unknown, not taken", "unknown, taken")
    return [
        {
            "match": random.choice(("re: ", "box: ", "slot: ", "")),
            "outcome": random.choice(outcomes),
            "times": random.randint(1, 2),
            "delay_s": random.choice((0, 0, 0.3)),
        }
        for _ in range(random.randint(0, 3))
    ]
