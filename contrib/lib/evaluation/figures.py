"""Means, intervals and ratios, workload by workload."""
import math

# Of Student's t distribution, 97.5 %, by degrees of freedom from 1.
_T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
      2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]


def t_975(freedom):
    if freedom <= len(_T):
        return _T[freedom - 1]
    z = 1.959964  # the first terms of Cornish and Fisher: right to 0.001 from here on
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def mean(values):
    return math.fsum(values) / len(values)


def with_interval(values):
    """Mean, and half of its 95 % interval (None of one value)."""
    middle = mean(values)
    if len(values) < 2:
        return middle, None
    variance = math.fsum((each - middle) ** 2 for each in values) / (len(values) - 1)
    return middle, t_975(len(values) - 1) * math.sqrt(variance / len(values))


def ratio(mine, others):
    """Mean JCTs of the same workloads, paired."""
    return with_interval([one / other for one, other in zip(mine, others)])


def gap_closed(mine, best, bound):
    """The part of the way from the best baseline to the bound, over all workloads, and half of its interval. None where there is
    no way to speak of: half a percent."""
    way = mean(best) - mean(bound)
    if way < 0.005 * mean(best):
        return None
    part = (mean(best) - mean(mine)) / way
    rest = with_interval([(b - m) - part * (b - n) for m, b, n in zip(mine, best, bound)])[1]
    return part, None if rest is None else rest / way


def best_baseline(results, is_baseline):
    """The name of the baseline with the least mean JCT, the first of equals; None without any."""
    names = [name for name in results if is_baseline(name)]
    return min(names, key=lambda name: mean(results[name]["jct"]), default=None)
