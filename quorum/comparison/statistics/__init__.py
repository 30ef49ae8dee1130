"""Statistics over boards, in NumPy alone. Every draw is seeded, so the same runs give the same figures.

| what | where | source |
|---|---|---|
| a board counts once, however many runs meet it | `intervals` | Miller 2024, Adding Error Bars to Evals |
| interquartile mean, probability of improvement | `intervals` | Agarwal et al. 2021, Deep Reinforcement Learning at the Edge of the Statistical Precipice |
| interval of a mean, of a median | `intervals` | DiCiccio and Efron 1992; Hesterberg 2015; Conover 1999 |
| interval of a mean of shares | `bounded` | Gaffke 2005; Learned-Miller and Thomas 2019; for zeros and ones Clopper and Pearson 1934 |
| interval of an interquartile mean | `intervals` | Efron 1987, Better Bootstrap Confidence Intervals |
| test and interval of paired differences | `flips` | Fisher 1935, The Design of Experiments; Hartigan 1969; Phipson and Smyth 2010 |
| evidence and interval at any time | `anytime` | Ville 1939; Waudby-Smith and Ramdas 2024 |
| boards for a power | `flips` | Guenther 1981 |
| share of the room that is closed | `room` | ratio of means, interval by inverting the test of `flips`; Fieller 1954 |
| noise floor | `noise` | Student's quantile with degrees of freedom by kurtosis; Satterthwaite 1946 |
| many comparisons | `flips` | Holm 1979; Tarone 1990 |
"""  # noqa: E501 - a table
