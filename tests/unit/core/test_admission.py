"""Who runs next."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from orchestrator.contracts.ids import GroupFolder
from orchestrator.contracts.records.agents import QueueReason
from orchestrator.core.admission import Decision, Live, Waiting, choose


def waits(group: str, since: int = 1, served: int = 0) -> Waiting:
    return Waiting(key=group, since_seq=since, last_served=served)


def busy(group: str) -> Live:
    return Live(key=group, is_busy=True, idle_since=None)


def answering(group: str) -> Live:
    """It waits for a person."""
    return Live(key=group, is_busy=True, idle_since=None, is_held=True)


def idle(group: str, since: float) -> Live:
    return Live(key=group, is_busy=False, idle_since=since)


def decision(*, start: str = "", feed: str = "", close: str = "") -> Decision:
    def groups(names: str) -> tuple[GroupFolder, ...]:
        return tuple(GroupFolder(name) for name in names.split())

    return Decision(start=groups(start), feed=groups(feed), close=groups(close))


@pytest.mark.parametrize(
    ("waiting", "live", "max_running", "max_live", "expected"),
    [
        ([], [], 5, 20, decision()),
        ([], [idle("a", 1)], 5, 1, decision()),
        ([waits("b", 2), waits("a", 1), waits("c", 3)], [], 2, 20, decision(start="a b")),
        ([waits("a", 1, served=4), waits("b", 9, served=3)], [], 1, 20, decision(start="b")),
        ([waits("a", 9), waits("b", 1, served=1)], [], 1, 20, decision(start="a")),
        ([waits("a")], [busy("a")], 1, 1, decision(feed="a")),
        ([waits("a"), waits("b", 2)], [busy("a")], 1, 20, decision(feed="a")),
        ([waits("a")], [idle("a", 1)], 1, 1, decision(feed="a")),
        ([waits("a")], [idle("a", 1), busy("b")], 1, 20, decision()),
        ([waits("a", 1), waits("b", 2)], [idle("b", 1)], 1, 20, decision(start="a")),
        ([waits("a")], [busy("b"), busy("c")], 5, 2, decision()),
        ([waits("a")], [answering("b")], 1, 20, decision(start="a")),
        ([waits("a"), waits("b", 2)], [answering("b")], 1, 20, decision(start="a", feed="b")),
        ([waits("a")], [answering("b")], 1, 1, decision()),
        ([waits("a")], [answering("b"), busy("c")], 1, 20, decision()),
        ([waits("a")], [idle("b", 7), idle("c", 3)], 5, 2, decision(close="c")),
        ([waits("a"), waits("d", 2)], [idle("b", 7), idle("c", 3)], 5, 2, decision(close="c b")),
        ([waits("a"), waits("c", 2)], [idle("b", 7), idle("c", 3)], 5, 2, decision(feed="c", close="b")),
        ([waits("a"), waits("c", 2)], [idle("b", 7), idle("c", 3)], 1, 2, decision(close="b")),
        ([waits("a")], [busy("b"), idle("c", 3)], 1, 2, decision()),
        ([waits("a"), waits("d", 2)], [idle("c", 3)], 5, 2, decision(start="a", close="c")),
        ([waits("a"), waits("c", 2)], [idle("c", 3), busy("b")], 5, 2, decision(close="c")),
        ([waits("a", 2), waits("c", 1)], [idle("c", 3), busy("b")], 5, 2, decision(feed="c")),
        (
            [waits("a"), waits("c", 2), waits("d", 3)],
            [idle("c", 3), idle("d", 1)],
            5,
            2,
            decision(feed="c", close="d"),
        ),
    ],
    ids=[
        "nobody waits",
        "idle ones stay when nobody waits",
        "oldest first up to the running limit",
        "served longest ago first",
        "never served before served",
        "a busy one is fed at the limits",
        "feeding a busy one takes no slot",
        "an idle one is fed",
        "an idle one waits for a running slot",
        "in order over idle ones too",
        "nothing to close",
        "one that waits for a person lends its running slot",
        "and is fed all the same",
        "but not its live slot, and is not closed for it",
        "a lent slot is one",
        "longest idle is closed",
        "one is closed for each start held back",
        "an idle one that is waited for is fed and not closed",
        "a start held back keeps its running slot",
        "nothing is closed without a running slot",
        "the last live slot is used first",
        "one whose group comes later is closed if there is no other",
        "one whose group comes before is fed and not closed",
        "of those that are waited for the last in the order is closed",
    ],
)
def test_who_is_started_fed_and_closed(
    waiting: Sequence[Waiting], live: Sequence[Live], max_running: int, max_live: int, expected: Decision
) -> None:
    assert choose(waiting, live, max_running=max_running, max_live=max_live) == expected


def asked(child: str, tree: str = "t", served: int = 0) -> Waiting:
    """A spawned agent that waits for its place."""
    return Waiting(key=child, since_seq=0, last_served=served, tree=tree)


def member(agent: str, tree: str = "t", *, is_held: bool = False) -> Live:
    """An agent of a tree, at work or waiting for another one."""
    return Live(key=agent, is_busy=True, idle_since=None, is_held=is_held, tree=tree)


def parent(agent: str) -> Live:
    """One that is idle and has children."""
    return Live(key=agent, is_busy=False, idle_since=1, has_children=True, tree="t")


CHILDREN = [asked(f"t{n}") for n in range(1, 5)]


@pytest.mark.parametrize(
    ("waiting", "live", "max_running", "max_live", "expected"),
    [
        (CHILDREN, [], 4, 20, decision(start="t1 t2 t3 t4")),
        ([*CHILDREN, waits("a", served=1)], [], 2, 20, decision(start="t1 a")),
        ([*CHILDREN, waits("a", served=1)], [], 4, 20, decision(start="t1 t2 a t3")),
        ([*CHILDREN[:2], asked("u1", "u", served=1)], [member("t"), member("u", "u")], 3, 20,
         decision(start="t1")),
        (CHILDREN, [member("t", is_held=True)], 1, 20, decision(start="t1")),
        (CHILDREN, [member("t"), busy("b"), busy("c"), busy("d")], 9, 5, decision()),
        ([*CHILDREN, waits("a", served=1)], [member("t"), busy("b"), busy("c"), busy("d")], 9, 5,
         decision(start="a")),
        (CHILDREN, [member("t", is_held=True), busy("b"), busy("c"), busy("d")], 9, 5,
         decision(start="t1")),
        (CHILDREN, [member(f"p{n}", is_held=True) for n in range(4)], 2, 5, decision(start="t1")),
        ([waits("a")], [parent("t"), busy("b")], 5, 2, decision()),
        ([waits("a")], [parent("t"), idle("b", 9)], 5, 2, decision(close="b")),
    ],
    ids=[
        "a tree alone takes all",
        "while a chat waits it takes half",
        "and more once that has its place",
        "no slot stays empty for trees that all have their half",
        "a waiting parent lends its place to its child",
        "the last places are kept for chats",
        "which take them",
        "but one of a tree may always be at work",
        "also when only parents live",
        "an idle parent is not closed for others",
        "others are",
    ],
)  # fmt: skip
def test_what_a_tree_may_take(
    waiting: Sequence[Waiting], live: Sequence[Live], max_running: int, max_live: int, expected: Decision
) -> None:
    assert choose(waiting, live, max_running=max_running, max_live=max_live) == expected


@pytest.mark.parametrize(
    ("waiting", "live", "max_running", "max_live", "held"),
    [
        (CHILDREN[:2], [member("t")], 2, 20, {"t2": QueueReason.MAX_RUNNING}),
        (CHILDREN[:1], [member("t"), busy("b")], 9, 2, {"t1": QueueReason.MAX_LIVE}),
        (CHILDREN[:1], [busy("a"), busy("b")], 9, 2, {"t1": QueueReason.MAX_LIVE}),
        (CHILDREN[:1], [idle("b", 9)], 9, 1, {"t1": QueueReason.MAX_LIVE}),
        (CHILDREN[:1], [member("t"), busy("b"), busy("c"), busy("d")], 9, 5,
         {"t1": QueueReason.KEPT_FOR_CHATS}),
        ([CHILDREN[0], asked("u1", "u", served=1), asked("v1", "v", served=2)], [member("t")], 2, 20,
         {"t1": QueueReason.OTHERS_FIRST, "v1": QueueReason.MAX_RUNNING}),
        ([CHILDREN[0], *(waits(chat, served=1) for chat in "abc")], [member("t")], 3, 20,
         {"t1": QueueReason.TREE_SHARE, "c": QueueReason.MAX_RUNNING}),
        (CHILDREN, [], 4, 20, {}),
    ],
    ids=[
        "as many as may are at work",
        "as many as may live",
        "also where nobody of its tree is at work",
        "also while an idle one is closed for it",
        "the last places are kept for chats",
        "what is left is for trees of which nobody is at work",
        "its tree has its half",
        "nothing",
    ],
)  # fmt: skip
def test_what_keeps_each_from_its_start(
    waiting: Sequence[Waiting],
    live: Sequence[Live],
    max_running: int,
    max_live: int,
    held: Mapping[str, QueueReason],
) -> None:
    assert choose(waiting, live, max_running=max_running, max_live=max_live).held == held


@given(
    st.lists(st.tuples(st.sampled_from("tuv"), st.booleans()), max_size=8),
    st.lists(st.sampled_from("tuv"), min_size=1, max_size=6),
    st.integers(1, 5),
    st.integers(1, 12),
)
@example([("t", False), ("u", False)], ["t", "u", "v"], 4, 4)
def test_a_tree_of_which_nobody_is_at_work_gets_one_on_while_there_is_a_place(
    members: list[tuple[str, bool]], children: list[str], max_running: int, max_live: int
) -> None:
    live = [member(f"m{n}", tree, is_held=waits) for n, (tree, waits) in enumerate(members)]
    waiting = [asked(f"c{n}", tree) for n, tree in enumerate(children)]
    at_work = [agent.tree for agent in live if agent.is_at_work]

    chosen = choose(waiting, live, max_running=max_running, max_live=max_live)

    started = [entry.tree for entry in waiting if entry.key in chosen.start]
    places = min(max_running - len(at_work), max_live - len(live))
    stuck = {entry.tree for entry in waiting} - set(at_work)
    assert len(stuck & set(started)) == min(len(stuck), max(places, 0)) or set(started) <= stuck


GROUPS = [f"g{n}" for n in range(6)]
SITUATIONS = st.tuples(
    st.lists(
        st.builds(waits, st.sampled_from(GROUPS), st.integers(1, 9), st.integers(0, 4)),
        unique_by=lambda entry: entry.key,
    ),
    st.lists(
        st.builds(busy, st.sampled_from(GROUPS)) | st.builds(idle, st.sampled_from(GROUPS), st.floats(0, 9)),
        unique_by=lambda agent: agent.key,
    ),
)


@given(SITUATIONS, st.integers(1, 5), st.integers(1, 6))
def test_no_limit_is_passed_and_nobody_is_named_twice(
    situation: tuple[list[Waiting], list[Live]], max_running: int, max_live: int
) -> None:
    waiting, live = situation
    busy_now = {agent.key for agent in live if agent.is_busy}

    chosen = choose(waiting, live, max_running=max_running, max_live=max_live)

    more_running = len(chosen.start) + len(set(chosen.feed) - busy_now)
    assert more_running <= max(0, max_running - len(busy_now))
    assert len(live) + len(chosen.start) <= max(max_live, len(live))
    named = [*chosen.start, *chosen.feed, *chosen.close]
    assert len(named) == len(set(named))
    assert {*chosen.start, *chosen.feed} <= {entry.key for entry in waiting}
    assert set(chosen.close) <= {agent.key for agent in live} - busy_now


@given(SITUATIONS, st.integers(1, 5), st.integers(1, 6))
def test_no_slot_stays_empty_while_somebody_can_use_it(
    situation: tuple[list[Waiting], list[Live]], max_running: int, max_live: int
) -> None:
    waiting, live = situation
    groups_live = {agent.key for agent in live}
    busy_now = {agent.key for agent in live if agent.is_busy}

    chosen = choose(waiting, live, max_running=max_running, max_live=max_live)

    used = len(busy_now) + len(chosen.start) + len(set(chosen.feed) - busy_now) + len(chosen.close)
    left = {entry.key for entry in waiting} - {*chosen.start, *chosen.feed}
    held_back = left - groups_live
    assert used >= max_running or not ((left & groups_live) - set(chosen.close))
    assert used >= max_running or len(live) + len(chosen.start) >= max_live or not held_back


class Queue(RuleBasedStateMachine):
    """A queue that lives by `choose`: groups get work, agents run, end their turns and go."""

    MAX_RUNNING, MAX_LIVE = 2, 3

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.waiting: dict[str, int] = {}
        self.served: dict[str, int] = {}
        self.agents: dict[str, float | None] = {}
        self.passed_over: dict[str, list[str]] = {}

    @rule(group=st.sampled_from(GROUPS))
    def work_arrives(self, group: str) -> None:
        self.now += 1
        if group not in self.waiting:
            self.waiting[group] = self.now
            self.passed_over[group] = []

    @precondition(lambda self: any(since is None for since in self.agents.values()))
    @rule(data=st.data())
    def a_turn_ends(self, data: st.DataObject) -> None:
        self.now += 1
        running = sorted(group for group, since in self.agents.items() if since is None)
        self.agents[data.draw(st.sampled_from(running))] = float(self.now)

    @rule()
    def the_queue_admits(self) -> None:
        """Until nothing is left to do: a start that an agent was closed for comes in the next pass."""
        served: list[str] = []
        while True:
            chosen = choose(
                [waits(group, since, self.served.get(group, 0)) for group, since in self.waiting.items()],
                [busy(g) if since is None else idle(g, since) for g, since in self.agents.items()],
                max_running=self.MAX_RUNNING,
                max_live=self.MAX_LIVE,
            )
            for group in chosen.close:
                assert self.agents.pop(group) is not None
            for group in (*chosen.start, *chosen.feed):
                # What goes to an agent at work takes no slot from those who wait.
                if group not in self.agents or self.agents[group] is not None:
                    served.append(group)
                self.now += 1
                self.agents[group], self.served[group] = None, self.now
                del self.waiting[group], self.passed_over[group]
            if not chosen.close:
                break
        for others in self.passed_over.values():
            others.extend(served)

    @invariant()
    def limits_hold(self) -> None:
        assert sum(since is None for since in self.agents.values()) <= self.MAX_RUNNING
        assert len(self.agents) <= self.MAX_LIVE

    @invariant()
    def no_group_comes_twice_before_another_that_waits_comes_once(self) -> None:
        for others in self.passed_over.values():
            assert len(others) == len(set(others))


TestQueue = Queue.TestCase
TestQueue.settings = settings(max_examples=60, stateful_step_count=40)
