#include topics/dirichlet/topics_hyperparameters.stan
