  real eta = eta_is_random ? eta_random[1] : eta_given[1];
  vector[n_upper] layer_mass = layer_mass_is_random ? layer_mass_random[1] : rep_vector(layer_mass_given[1], n_upper);
  vector[n_upper] layer_rate = layer_rate_is_random ? layer_rate_random[1] : rep_vector(layer_rate_given[1], n_upper);
  vector[n_upper] link_rate = link_rate_is_random ? link_rate_random[1] : rep_vector(link_rate_given[1], n_upper);
  array[n_upper] vector[W] log_popularity;
  array[n_upper, n_upper > 0 ? W : 0] vector[V] log_upper_topics;
  array[n_upper > 0 ? W : 0] vector[K] log_links;
  array[n_upper > 1 ? 1 : 0, n_upper > 1 ? W : 0] vector[W] log_upper_links;
  for (t in 1 : n_upper) {
    log_popularity[t] = log_popularity_of(popularity_log_h[t], popularity_x[t], layer_mass[t], layer_rate[t]);
  }
  if (n_upper > 0) {
    log_upper_topics[n_upper] = log_topics_of(top_log_h, top_x, rep_array(rep_vector(log(eta), V), W));
    if (n_upper > 1) {
      log_upper_links[1] = log_links_of(links_between_log_h, links_between_x, log_popularity[2], link_rate[2]);
      log_upper_topics[1] = log_topics_of(middle_log_h, middle_x,
                                          log_mixtures(log_upper_links[1], log_upper_topics[2]));
    }
    log_links = log_links_of(links_log_h, links_x, log_popularity[1], link_rate[1]);
  }
