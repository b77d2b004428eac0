  array[eta_is_random] real<lower=0> eta_random;
  array[layer_mass_is_random] vector<lower=0>[n_upper] layer_mass_random;
  array[layer_rate_is_random] vector<lower=0>[n_upper] layer_rate_random;
  array[link_rate_is_random] vector<lower=0>[n_upper] link_rate_random;
