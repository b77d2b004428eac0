"""All topic sides, by name."""

from collections.abc import Mapping

from .pitman_yor.topics import PitmanYor
from .topics import Dirichlet, TopicSide

TOPIC_SIDES: Mapping[str, TopicSide] = {side.name: side for side in (Dirichlet(), PitmanYor())}
