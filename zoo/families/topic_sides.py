"""The topic sides that go with any documents, and those that go with a fixed number of topics, by name."""

from .belief_network.topics import BeliefNetwork
from .pitman_yor.topics import PitmanYor
from .topics import Dirichlet, TopicSide

TOPIC_SIDES: dict[str, TopicSide] = {side.name: side for side in (Dirichlet(), PitmanYor())}

FIXED_TOPIC_SIDES: dict[str, TopicSide] = TOPIC_SIDES | {BeliefNetwork.name: BeliefNetwork()}
"""With those that cannot open topics."""
