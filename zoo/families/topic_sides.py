"""The topic sides that go with any documents, by name."""

from .pitman_yor.topics import PitmanYor
from .topics import Dirichlet, TopicSide

TOPIC_SIDES: dict[str, TopicSide] = {side.name: side for side in (Dirichlet(), PitmanYor())}
