"""Agent images that this checkout does not use: of earlier versions, of other checkouts, replaced ones."""

from dataclasses import dataclass
from typing import Final

import docker
import docker.errors
from docker.models.images import Image

from orchestrator.runners.image import VERSION_LABEL

PRUNE: Final = "dovecote image prune"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherImage:
    """An agent image of ours that is not the one in use. name: of one without a tag, the start of its id."""

    name: str
    image_id: str
    tags: tuple[str, ...]


def other_images(client: docker.DockerClient, in_use: str) -> list[OtherImage]:
    """Those that are called like the one in use but for their tags, and those that lost their tag.

    An image that also has a name of another kind is somebody's own, and left out. Blocks.
    """
    repository = _repository(in_use)
    found = [
        _other(image)
        for image in client.images.list(filters={"label": VERSION_LABEL})
        if in_use not in image.tags and all(_repository(tag) == repository for tag in image.tags)
    ]
    return sorted(found, key=lambda image: image.name)


def remove_image(client: docker.DockerClient, image: OtherImage) -> str | None:
    """Remove it with all its tags; why it stays, if it does. One that a container uses stays. Blocks."""
    for name in image.tags or (image.image_id,):
        try:
            client.images.remove(name)
        except docker.errors.ImageNotFound:
            continue
        except docker.errors.APIError as error:
            return str(error.explanation or error)
    return None


def _other(image: Image) -> OtherImage:
    image_id, tags = str(image.id), tuple(sorted(map(str, image.tags)))
    return OtherImage(name=tags[-1] if tags else image_id[:19], image_id=image_id, tags=tags)


def _repository(name: str) -> str:
    """A name without its tag; a port before the last slash is no tag."""
    head, colon, tag = name.rpartition(":")
    return name if not colon or "/" in tag else head
