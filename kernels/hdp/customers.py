"""Customers of the root: the tables of documents, or, at three levels, of tasks, and who has which topic."""

from typing import NamedTuple

import numpy as np

from ..toolbox.dirichlet import retopic
from ..toolbox.jit import borrowing_kernel, kernel


class Customers(NamedTuple):
    """Customers of the root, linked by their tokens and by topic; -1 ends every chain.

    Attributes
    ----------
    size, first_token : int32 (customers,)
    next_token : int32 (N,)
        Token of the same customer.
    of_token : int32 (N,)
    of_topic : int32 (capacity,)
        A customer of each topic.
    next_customer : int32 (customers,)
        Customer of the same topic.
    n_of_topic : int64 (capacity,)
    group : int32 (customers,)
    """

    size: np.ndarray
    first_token: np.ndarray
    next_token: np.ndarray
    of_token: np.ndarray
    of_topic: np.ndarray
    next_customer: np.ndarray
    n_of_topic: np.ndarray
    group: np.ndarray


@kernel
def group_of_tables(tokens, tables, n_tables):
    """Group of each table's document."""
    of_token = np.repeat(tokens.group, tokens.doc_ptr[1:] - tokens.doc_ptr[:-1])
    return of_token[tables.first_token[:n_tables]]


@kernel
def seat_at_root(rng, tokens, documents, tables, group):
    """Draw which customer of the root each table is, or, at three levels, sits down with in its task.

    Returns the customers of the tables, and how many there are.
    """
    of_table = np.arange(group.size)
    if documents.n_levels[0] == 2:
        return of_table, group.size
    here = np.full(documents.prior.shape, -1, np.int32)  # a customer of each group and topic
    seated = np.zeros(documents.prior.shape, np.int64)
    n_tables = np.zeros(group.size, np.int64)
    next_customer = np.empty(group.size, np.int32)
    n_customers = 0
    for table in range(group.size):
        g, k = group[table], tokens.topic[tables.first_token[table]]
        u = rng.random() * (seated[g, k] + documents.alpha0[0] * documents.root[k])
        customer = here[g, k]
        while customer >= 0:
            u -= n_tables[customer]
            if u < 0.0:
                break
            customer = next_customer[customer]
        if customer < 0:
            customer = n_customers
            n_customers += 1
            next_customer[customer] = here[g, k]
            here[g, k] = customer
        seated[g, k] += 1
        n_tables[customer] += 1
        of_table[table] = customer
    return of_table, n_customers


@kernel
def customers_of(tokens, of_token, group, capacity):
    """Make customers of the root, given which of them each token is of, and their groups."""
    n = group.size
    customers = Customers(
        size=np.zeros(n, np.int32),
        first_token=np.full(n, -1, np.int32),
        next_token=np.empty(of_token.size, np.int32),
        of_token=of_token,
        of_topic=np.full(capacity, -1, np.int32),
        next_customer=np.empty(n, np.int32),
        n_of_topic=np.zeros(capacity, np.int64),
        group=group,
    )
    for i in range(of_token.size):
        customer = of_token[i]
        customers.next_token[i] = customers.first_token[customer]
        customers.first_token[customer] = i
        customers.size[customer] += 1
    for customer in range(n):
        k = tokens.topic[customers.first_token[customer]]
        customers.next_customer[customer] = customers.of_topic[k]
        customers.of_topic[k] = customer
        customers.n_of_topic[k] += 1
    return customers


@kernel
def draw_customers(rng, tokens, documents, tables, group):
    """Draw the customers of the root given the tables of the documents and their groups."""
    of_table, n_customers = seat_at_root(rng, tokens, documents, tables, group)
    of_token = np.empty(tokens.topic.size, np.int32)
    group_of = np.empty(n_customers, group.dtype)
    for table in range(group.size):
        group_of[of_table[table]] = group[table]
        i = tables.first_token[table]
        while i >= 0:
            of_token[i] = of_table[table]
            i = tables.next_token[i]
    return customers_of(tokens, of_token, group_of, documents.prior.shape[1])


@kernel
def count_by_topic(tokens, group, first_token, n_groups, n_topics):
    """How many tables, or customers, there are by group and topic."""
    count = np.zeros((n_groups, n_topics), np.int64)
    for j in range(group.size):
        count[group[j], tokens.topic[first_token[j]]] += 1
    return count


@borrowing_kernel
def give_topic(tokens, topics, customers, customer, new):
    """Give a customer a topic, and put it among the customers of that."""
    first = customers.first_token[customer]
    customers.next_customer[customer] = customers.of_topic[new]
    customers.of_topic[new] = customer
    customers.n_of_topic[new] += 1
    if new != tokens.topic[first]:
        retopic(tokens, topics, first, customers.next_token, new)


@borrowing_kernel
def goes_ahead(rng, topics, one, other, most_tokens):
    """Whether there is to be a proposal for two topics, or for one given twice.

    With probability min(1, `most_tokens` / their tokens), which is the same on the way back.
    """
    size = topics.total[one]
    if one != other:
        size += topics.total[other]
    return rng.random() * size < most_tokens
