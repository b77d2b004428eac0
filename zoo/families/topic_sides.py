"""The topic sides that go with documents of many kinds, by name."""

from .belief_network.topics import BeliefNetwork
from .pitman_yor.topics import PitmanYor
from .topics import Dirichlet, TopicSide

TOPIC_SIDES: dict[str, TopicSide] = {side.name: side for side in (Dirichlet(), PitmanYor())}

WITH_BELIEF_NETWORK: dict[str, TopicSide] = TOPIC_SIDES | {BeliefNetwork.name: BeliefNetwork()}
"""With those that documents with responses have not been given."""
