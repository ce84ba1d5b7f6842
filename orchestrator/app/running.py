"""A Dovecote from its lock to its shutdown."""

import contextlib
import resource
from collections.abc import AsyncIterator, Callable
from typing import Final

from orchestrator.app.doors import App, close_doors, open_doors
from orchestrator.app.ground import take_ground
from orchestrator.app.house import open_house
from orchestrator.app.parts import Replacements
from orchestrator.app.starting import start_activities
from orchestrator.commands.groups.first_start import give_shared_texts, register_main
from orchestrator.commands.hearing.words_kept import do_left_words
from orchestrator.engine.activities import Activities
from orchestrator.engine.event_feed import EventFeed
from orchestrator.engine.outbox_sender import OutboxSender
from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings

_FILES: Final = 65_536


@contextlib.asynccontextmanager
async def running(
    settings: Settings,
    paths: Paths,
    *,
    replacements: Replacements | None = None,
    give_way: Callable[[], None] | None = None,
) -> AsyncIterator[App]:
    """A Dovecote whose doors are open; leaving it is the orderly shutdown of design.md section 5.

    give_way: called when a daemon asks for the home; None: it is left to none.
    Raises DovecoteError when it can't start: another one holds the home, the store is unreadable,
    no runner is usable.
    """
    parts = replacements or Replacements()
    paths.ensure()
    _allow_many_files()
    async with contextlib.AsyncExitStack() as stack:
        house = await open_house(stack, settings, paths, parts)
        services = house.services
        events = await EventFeed.open(services)
        ground = await take_ground(stack, house, parts, events)
        await register_main(services)
        await do_left_words(services)  # before anything runs that a word was not meant for
        await give_shared_texts(services)
        outbox = OutboxSender(services, house.channels)
        async with house.group:
            activities = Activities(house.group, services.troubles)
            app = App(
                services=services,
                console=house.console,
                channels=house.channels,
                agents=house.agents,
                outbox=outbox,
                activities=activities,
                events=events,
                runner_line=ground.runner_line,
            )
            tasks = start_activities(activities, house, ground, outbox, events)
            doors = await open_doors(app, serves_api=parts.serves_api, give_way=give_way)
            try:
                yield app
            finally:
                await close_doors(app, doors)
                for task in tasks:
                    task.cancel()


def _allow_many_files() -> None:
    """Each live agent holds about a dozen descriptors; many systems allow 1,024 unless asked."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and (hard == resource.RLIM_INFINITY or soft < hard):
        wanted = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
