#include topics/dirichlet/topics_transformed_data.stan
