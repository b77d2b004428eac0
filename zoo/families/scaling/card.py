"""What the cards of the scaling processes have in common."""

from ...contract import Equation


def equations(scale: Equation) -> tuple[Equation, ...]:
    """Return the equations of a scaling process, given that of its scales."""
    return (
        Equation(
            "Equation 10",
            r"p_k = V_k \prod_{j<k} (1 - V_j),\quad V_k \sim \mathrm{Beta}(1, \gamma)",
            "weights of the topics at the root",
        ),
        scale,
        Equation(
            "Equations 12 and 13",
            r"\pi_{dk} \sim \mathrm{Gamma}(\alpha p_k, s_{dk}^{-1}),\quad"
            r"\theta_{dk} = \frac{\pi_{dk}}{\sum_l \pi_{dl}}",
            "topic proportions of a document; the second parameter is a rate",
        ),
        Equation(
            "Equations 10 and 14",
            r"\phi_k \sim \mathrm{Dir}_V(\eta),\quad z_i \sim \theta_{d(i)},\quad w_i \sim \phi_{z_i}",
            "words of a topic; topic and word of a token",
        ),
    )


ERRATA = (
    "The paper's alpha and beta are gamma and alpha here, as in `hdp`, which this is where no document has "
    "a label.",
    "Equation 9: the atoms are pairs of a topic and its w, and the process is drawn from G_0, as Equation 7 "
    "has it.",
    "The paper has mean-field variational inference alone. Here is an exact sampler beside it, of the model "
    "without a limit to the number of topics up to 1e-12 of weight, or with one.",
    "Equations 30 and 38, the gradients of V: log pi in the place of log w, and pi in that of log pi. "
    "Equation 37 has the mean of log s for that of 1 / s, and Equation 48 a factor too many. Updates as "
    "printed lower the bound: see the variants of the back end `vi`.",
    "Parameters of the law of w are numbers, or sampled where they have priors; the paper learns them, and "
    "does not say how.",
    "Labels that are not known are absent in the paper. They can be sampled here (`missing`); then there is "
    "no reference program.",
    "Equation 39: the proportions of a new document depend on w as well.",
)
"""Of the paper; also where this package departs from it."""
