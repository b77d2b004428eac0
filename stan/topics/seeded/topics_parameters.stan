#include topics/dirichlet/topics_parameters.stan
