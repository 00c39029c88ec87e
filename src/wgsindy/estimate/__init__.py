"""Two estimators: the weak form of the paper, and the likelihood of every increment."""
