"""What the cards of all models of sentences say."""

from ...contract import Equation

FREE_TOPICS = Equation(
    "not in the paper",
    r"\beta \sim \mathrm{GEM}(\tau),\quad \phi_{dl} \sim \mathrm{DP}(\kappa, \beta)",
    "topics of a dish where their number is free (`n_topics=0`)",
)

NO_REFERENCE = (
    "The number of topics is fixed by default, as in the paper. Where it is free there are no reference "
    "programs, which would have to cut off topics as well as dishes; enumeration judges the sampler."
)

SAMPLED_PARAMETERS = (
    "The paper on the weight-agnostic process has kappa = eta = 1; by default they are sampled here."
)
