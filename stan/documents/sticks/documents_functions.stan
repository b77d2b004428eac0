#include functions/sticks.stan
