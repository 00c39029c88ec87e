"""Thresholds of the verdict; where each comes from stands in brackets after what it is.

Tests have theirs from a rate of false alarms, sizes from what matters to a reader. *zoo*: settled
on seeds 100-129 of the zoo and reported on others, by the experiment `verdicts`. *gallery*: chosen
with the nulls of the gallery in sight, on other seeds than those of its page. *by hand*: nobody has
fitted or derived it. A page of the theory lists them.
"""

FALSE_ALARM = 0.003  # of each question that is asked of many numbers at once [by hand: 1 in 300]
STANDARD_ERRORS = 4.5  # of a test for every coordinate, and at several lengths [zoo]
TYPICAL = 0.5  # share of samples that makes a property one of the data [by hand: the majority]
MISFIT = 0.1  # share of the size of the drift by which it may be off somewhere [gallery]
UNEVEN_TENSOR = 0.04  # relative change of the tensor [gallery]

REPEATED = 1e-3  # share of samples that repeat the one before [zoo]
SPOILT = 0.05  # share of samples left out without a word in the verdict [by hand]
COPIED = 0.02  # share of samples in several places [gallery; its error is half a percent at 5 %]
SURE_NOISE = 2.0  # standard errors at which noise of a coordinate is named [by hand: 95 %]
NOISE_CORRELATION = -0.02  # of neighbours; noise adds twice that share to the tensor [zoo]
LAGGED = 0.03  # correlation of residuals with earlier ones [gallery]
CHANGED = 3.5  # standard errors between steps [false alarm: one in 2,000 for a coefficient]
LARGE_CHANGE = 0.1  # of a coefficient, as a share, between steps [by hand]
LOW_NOISE_SHARE = 0.15  # of samples where a coordinate has almost no noise [zoo]
AT_EDGE = 0.02  # share of samples on the smallest or the largest state exactly [zoo]
# Visits to within half a step of an end of the states. Those of a distribution that fades away are
# seen once or twice, whatever the number of samples. [derived: extreme values, with much room]
MANY_VISITS = 12

# Error of the drift over its size with every term of the library, in the box about the data, and
# over that at the data: noted, and a limit. [gallery]
NOTED_GUESS, NOTED_RATIO = 0.55, 1.9
GUESSED, GUESSED_RATIO = 1.0, 2.5  # the same of a limit [gallery]
KNOWN_AT_DATA = 0.4  # error at the data; of more there is nothing to guess from [gallery]
CLAIMED_IN_BOX = 0.5  # error that bands claim in the box; wider ones say it themselves [gallery]
ELSEWHERE = 1.75  # deviations between mean states of halves; at constant speed 3.5 [zoo]
CHAIN_EVIDENCE = 10.0  # log-evidence: measured data are no Euler steps [by hand: 22,000 to 1]
PREDICTED = 0.05  # share of the variance of the next state [gallery]

WRONG_VARIANCE = 0.2  # of residuals, relative [zoo]
EXPLODED = 0.5  # sum of squared residuals over what the tensor says it is [by hand]
CLIPPED = 0.05  # share of samples at which the tensor had to be clipped [zoo]
# False alarms about the form of a drift, where the library was grown: there a polynomial that is
# close to the truth is all that chance has to be told from. [gallery: as it was run]
FORM_ALARM = 0.01
EQUAL_EVIDENCE = 1.0  # log-evidence that an equal choice of terms may be behind [by hand: e to 1]
BETTER = 2.0  # log-evidence that equal terms of another kind must be ahead [gallery]
LONGEST_FORMULA = 15  # terms [by hand: more is a table]
CANCELLING = 10.0  # sizes of a field, of one term [gallery: of right formulas, two at most]

MEMORY = 0.1  # excess variance of sums over many steps [zoo]
SMOOTHED = 0.15  # correlation of neighbours [derived: of means of two samples it is 1/4 or more]
NEARLY_WHITE = 0.5  # standard errors that a filter and fitted terms add to a correlation [gallery]
# False alarms about two rates in one. [derived: of the error of a sensor that lasts five steps,
# 6,000 samples tell by 2.6 standard errors at most, whatever is computed of them]
RATES_ALARM = 0.01
TAILS = 0.15  # excess kurtosis beyond what a simulation of the fitted process has [gallery]
LEANING = 0.15  # skewness beyond that [gallery]
BURSTY = 0.04  # correlation of squared residuals with earlier ones [gallery]
FEWEST_TRAJECTORIES = 3  # of which one can be odd [derived: of two, neither is the odd one]
ODD_NOISE = 0.5  # residual variance of a trajectory, relative to the tensor [zoo]

# Standard errors that a drift component as a whole must be worth. The whole of it has several
# terms, so it needs more than the 3 of a single one: of log-Heston, whose price has 4.6, a few
# samples without noise tell a constant to a percent, and nothing else. [zoo]
LEAST_SIGNAL = 5.0
LARGE_ERROR = 0.5  # expected error of a drift component over its size: hardly identified [zoo]
NOTED_ERROR = 0.4  # the same, or of a noise, that is noted [gallery]
