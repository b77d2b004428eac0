#include functions/pitman_yor.stan
