"""Deliberately wrong kernels of the models of sentences; see `registry`."""

from ....zoo.contract import Model
from ....zoo.models.sbp import Sbp
from ....zoo.models.was import Was
from ..patched import Change, Mutant


def _mutant(name: str, file: str, find: str, replace: str, about: str, of: type[Model] = Was) -> Mutant:
    change = Change(f"segments/{file}.py", find, replace)
    return Mutant(f"{of.card.id}-{name}", (of,), change, about)


MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "future-forgotten",
        "weights",
        "        log_weight[n_slots] = more + opens + math.log(law.zeta[0])\n",
        "        log_weight[n_slots] = opens + math.log(law.zeta[0])\n",
        "a new dish is weighed as if tables opened later did not see it on offer",
    ),
    _mutant(
        "as-if-last",
        "tokens",
        "NEVER if as_if_last else tokens.time[i]",
        "NEVER",
        "every token is taken for the last one",
    ),
    _mutant(
        "own-offer-forgotten",
        "weights",
        "            log_weight[c] += opens + less\n",
        "            log_weight[c] += opens\n",
        "tables that a sentence opens later are weighed as if the dish were still on offer to it",
    ),
    _mutant(
        "heir-forgotten",
        "documents",
        "            document.own_first[c] = tokens.time[heir]\n",
        "",
        "a table stays opened by the token that left it",
    ),
    _mutant(
        "stale-offer",
        "documents",
        "        move_table(document, e, t)\n        refresh_tables(document, first_sentence)\n",
        "        move_table(document, e, t)\n",
        "what was on offer is not brought up to date when a token opens a table",
    ),
    _mutant(
        "topics-of-dish-forgotten",
        "weights",
        "        of_word /= document.dish_size[c] + n_topics * kappa\n",
        "        of_word /= document.dish_size[c] + kappa\n",
        "the normaliser of a dish has kappa instead of K kappa",
    ),
    _mutant(
        "seats-of-new",
        "weights",
        "    another = prefix[own_before] * math.exp(log_beta(a, b + after) - log_beta(a, b))\n",
        "    another = prefix[own_before] * b / (a + b)\n",
        "a new table is weighed without the tokens at tables opened after it",
    ),
    _mutant(
        "restaurant-without-b",
        "weights",
        "        document.table_weight[n_slots] = law.b[0]\n",
        "        document.table_weight[n_slots] = 1.0\n",
        "a table with a new dish has weight 1 instead of b",
    ),
    _mutant(
        "new-dishes-not-counted",
        "hyper",
        "(target.prior[0] + target.new_dishes) * x",
        "target.prior[0] * x",
        "the density of zeta lacks the power of zeta",
    ),
    _mutant(
        "stick-of-first-token",
        "hyper",
        "        out += log_beta(a + target.size[j] - 1.0, b + target.later[j])\n",
        "        out += log_beta(a + target.size[j], b + target.later[j])\n",
        "the token that opens a table is counted as a success of its stick (truncated stick-breaking)",
    ),
    _mutant(
        "last-dish-by-its-stick",
        "truncated",
        "is_last = c == n_dishes - 1",
        "is_last = False",
        "the last dish has a stick of its own instead of all that is left",
        Sbp,
    ),
    _mutant(
        "passed-too-often",
        "truncated",
        "        passed *= (b + later) / mass\n",
        "        passed *= (b + later + state.seats[c]) / mass\n",
        "tokens at a dish count among those that passed it",
        Sbp,
    ),
    _mutant(
        "seats-kept",
        "truncated",
        "                    state.seats[tokens.dish[i]] -= 1\n",
        "",
        "a token is not taken out of its sentence",
        Sbp,
    ),
    _mutant(
        "sentences-together",
        "truncated",
        "            state.seats[:] = 0\n        state.in_dish[:] = 0\n        state.dish_size[:] = 0\n",
        "        state.seats[:] = 0\n        state.in_dish[:] = 0\n        state.dish_size[:] = 0\n",
        "a sentence begins with the seats of the one before",
        Sbp,
    ),
    _mutant(
        "size-of-dish-forgotten",
        "truncated",
        "(state.dish_size[c] + n_topics * kappa)",
        "(1.0 + n_topics * kappa)",
        "topic vectors are not normalised",
        Sbp,
    ),
    _mutant(
        "stick-without-token",
        "truncated",
        "state.stick_size[s, c] = state.seats[c] + 1",
        "state.stick_size[s, c] = state.seats[c]",
        "a and b are drawn as if the first token of a dish were no success of its stick",
        Sbp,
    ),
    _mutant(
        "first-stick-forgotten",
        "truncated",
        "                if c < n_dishes - 1:\n                    state.stick_size",
        "                if 0 < c < n_dishes - 1:\n                    state.stick_size",
        "a and b are drawn without the first sticks",
        Sbp,
    ),
)
