"""Joint fit of the training model's constants to measured steps, with priors and left-out errors."""
