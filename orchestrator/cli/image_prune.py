"""`dovecote image prune`: gives back the room of agent images that this checkout does not use."""

from functools import partial
from pathlib import Path

from orchestrator.cli.home import open_home
from orchestrator.runners.docker_engine import Engine
from orchestrator.runners.image import own_image
from orchestrator.runners.image_pruning import other_images, remove_image


def prune(home_option: Path | None) -> None:
    """Remove them and say of each what became of it. Raises DovecoteError where no engine answers."""
    settings = open_home(home_option).settings.agent
    in_use = settings.image or own_image()
    engine = Engine(settings.engine_url)
    try:
        found = engine.run(lambda client: other_images(client, in_use))
        for image in found:
            reason = engine.run(partial(remove_image, image=image))
            print(f"Removed {image.name}." if reason is None else f"Kept {image.name}: {reason}.")
        if not found:
            print(f"There is no agent image besides {in_use}.")
    finally:
        engine.close()
