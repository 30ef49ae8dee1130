"""Statistics over runs, in NumPy alone. Every draw is seeded: the same runs give the same figures.

| what | source |
|---|---|
| interquartile mean, probability of improvement | Agarwal et al. 2021, Deep Reinforcement Learning at the Edge of the Statistical Precipice |
| bootstrap: bias-corrected and accelerated, stratified | Efron 1987, Better Bootstrap Confidence Intervals; Davison and Hinkley 1997, section 3.2 |
| its level for few runs | Hesterberg 2015, What Teachers Should Know About the Bootstrap, section 3.3 |
| interval of a share | Wilson 1927, Probable Inference, the Law of Succession, and Statistical Inference |
| test of paired differences | Fisher 1935, The Design of Experiments, section 21; Phipson and Smyth 2010 for drawn permutations |
| many comparisons | Holm 1979, A Simple Sequentially Rejective Multiple Test Procedure |
"""  # noqa: E501 - a table

from quorum.experiments.compare.statistics.aggregates import STATISTICS, Statistic, interquartile_mean
from quorum.experiments.compare.statistics.intervals import Estimate, estimate
from quorum.experiments.compare.statistics.testing import holm, probability_of_improvement, sign_flip_test, smallest_p

__all__ = [
    "STATISTICS",
    "Estimate",
    "Statistic",
    "estimate",
    "holm",
    "interquartile_mean",
    "probability_of_improvement",
    "sign_flip_test",
    "smallest_p",
]
