#!/usr/bin/env python3
"""Checks `rtrace diff --json` against a comparison made from the definitions of docs/reference/comparisons.md alone.

    account_diff.py RTRACE BASE... -- NEW... -- OPTION...

The files are saved summaries of runs without losses that can be compared; metrics are mean, trimmed, min, max, count, a quantile, rate,
errors, busy, and one of these divided by another. Random numbers are SplitMix64's, begun with the FNV-1a hash of side and metric
over the seed, so that errors agree as well. Prints each difference; exit status 1 if there are any.
"""
import json
import math
import re
import subprocess
import sys
from statistics import fmean, median, variance

RTRACE, WORDS = sys.argv[1], sys.argv[2:]
MASK = 2**64 - 1
RUNS = 5
differences = 0


def same(what, ours, theirs, near=1e-7):
    """Numbers agree if they are as near as the sums of other orders are."""
    global differences
    both = isinstance(ours, (int, float)) and isinstance(theirs, (int, float)) and not isinstance(ours, bool)
    if not (both and math.isclose(ours, theirs, rel_tol=near, abs_tol=1e-12)) and ours != theirs:
        differences += 1
        print(f"{what}: by the definitions {ours}, by rtrace {theirs}")


class Random:
    def __init__(self, seed, name):
        self.state = seed ^ 0xCBF29CE484222325
        for byte in name.encode():
            self.state = ((self.state ^ byte) * 0x100000001B3) & MASK

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        return z ^ z >> 31


def durations_of(number):
    """The least duration of a bin, and how many there are."""
    if number < 128:
        return number, 1
    power, nth = divmod(number, 64)
    return (64 + nth) << power - 1, 1 << power - 1


def bins_of(coded):
    """(bin, durations) of a cell."""
    at = 0
    for number in coded:
        if number > 0:
            yield at, number
        at += -number if number < 0 else 1


def quantity(text):
    """The kind, its argument, and the series of a quantity."""
    reducer = re.fullmatch(r"(mean|trimmed|min|max|count|p[0-9.]+)\((\w+\(.*\))\)", text)
    if reducer:
        return reducer[1], reducer[2]
    rate = re.fullmatch(r"rate\((.*)\)", text)
    return ("rate", f"count({rate[1]})") if rate else ("busy" if text == "busy" else "count", text)


def value_of(text, runs, weights):
    """A quantity of cells, each as often as its weight says."""
    kind, name = quantity(text)
    series = [run["series"][name] for run in runs]
    pairs = [(cell, weight, one) for one, of_run in zip(series, weights) for cell, weight in enumerate(of_run) if weight]
    count = sum(one["count"][cell] * weight for cell, weight, one in pairs)
    total = sum(one["sum"][cell] * weight for cell, weight, one in pairs)
    time = sum(sum(of_run) * run["duration"] / run["cells"] for run, of_run in zip(runs, weights))
    if kind == "count":
        return count
    if kind == "rate":
        return count * 1e9 / time if time else None
    if kind == "mean":
        return total / count if count else None
    if kind == "busy":
        return total / (time * fmean(run["cpus"] for run in runs)) if time else None
    bins = {}
    for cell, weight, one in pairs:
        for number, durations in bins_of(one["bins"][cell]) if one.get("bins") else ():
            bins[number] = bins.get(number, 0) + durations * weight
    if not bins:
        return None
    if kind in ("min", "max"):
        least, width = durations_of(min(bins) if kind == "min" else max(bins))
        return least + (width - 1) / 2
    if kind == "trimmed":
        begin, end, before, kept = 0.05 * count, 0.95 * count, 0, 0
        for number in sorted(bins):
            after = before + bins[number]
            first, last = max(begin, before), min(end, after)
            if last > first:
                least, width = durations_of(number)
                middle_of = (first + last) / 2 - before
                kept += (last - first) * (least + width * middle_of / bins[number] if width > 1 else least)
            before = after
        return kept / (end - begin)
    rank, before = float(kind[1:]) / 100 * count, 0
    for number in sorted(bins):
        if before + bins[number] >= rank:
            least, width = durations_of(number)
            return least + width * (rank - before) / bins[number] if width > 1 else least
        before += bins[number]
    return None


def value(metric, runs, weights):
    """Of a metric; None of what has none, or is not above 0."""
    parts = [value_of(part, runs, weights) for part in metric.split(" / ")]
    if None in parts or 0 in parts:
        return None
    return parts[0] / parts[1] if len(parts) == 2 else parts[0]


def once(runs):
    return [[1] * run["cells"] for run in runs]


def block_length(values):
    """Politis and White's choice for the stationary bootstrap."""
    n, mean = len(values), fmean(values)
    of_lag = [sum((a - mean) * (b - mean) for a, b in zip(values, values[lag:])) / n for lag in range(n)]
    if n < 8 or of_lag[0] <= 0:
        return 1
    quiet, limit = max(5, math.ceil(math.sqrt(math.log10(n)))), 2 * math.sqrt(math.log10(n) / n)
    most = min(math.ceil(math.sqrt(n)) + quiet, n - 1)
    loud = [abs(of_lag[lag] / of_lag[0]) >= limit for lag in range(1, most + 1)]
    after = next((lag for lag in range(most) if not any(loud[lag:lag + quiet])), None)
    if after is None:
        after = max((lag + 1 for lag, one in enumerate(loud) if one), default=0)
    window = min(max(2 * after, 1), most)
    flat_top = {lag: min(1, 2 * (1 - abs(lag) / window)) for lag in range(-window, window + 1)}
    spectrum = sum(weight * of_lag[abs(lag)] for lag, weight in flat_top.items())
    slope = sum(weight * abs(lag) * of_lag[abs(lag)] for lag, weight in flat_top.items())
    if spectrum == 0:
        return 1
    return min(max((2 * slope**2 / (2 * spectrum**2) * n) ** (1 / 3), 1), math.ceil(min(3 * math.sqrt(n), n / 3)))


def by_blocks(metric, runs, options, side):
    """Value, standard error, degrees of freedom and mean block of a side; None if nothing can be said."""
    whole = value(metric, runs, once(runs))
    if whole is None or min(run["cells"] for run in runs) < 8:
        return None
    length = 1
    for nth, run in enumerate(runs):
        influence = []
        for cell in range(run["cells"]):
            weights = once(runs)
            weights[nth][cell] = 0
            without = value(metric, runs, weights)
            influence.append(math.log(whole / without) if without else 0)
        length = max(length, block_length(influence))
    blocks = sum(run["cells"] for run in runs) / length
    if blocks < 8:
        return None
    random, drawn = Random(options["seed"], f"{side} {metric}"), []
    for _ in range(options["resamples"]):
        weights = []
        for run in runs:
            cells, of_run = run["cells"], [0] * run["cells"]
            for nth in range(cells):
                if nth == 0 or (random.bits() >> 11) / 2**53 * length < 1:
                    at = random.bits() * cells >> 64
                else:
                    at = (at + 1) % cells
                of_run[at] += 1
            weights.append(of_run)
        drawn.append(value(metric, runs, weights))
    drawn = [math.log(one) for one in drawn if one is not None]
    if len(drawn) < 0.99 * options["resamples"]:
        return None
    error, freedom = math.sqrt(variance(drawn)), blocks - 1
    sections = []
    for nth, run in enumerate(runs):
        for section in range(8):
            weights = [[0] * one["cells"] for one in runs]
            for cell in range(section * run["cells"] // 8, (section + 1) * run["cells"] // 8):
                weights[nth][cell] = 1
            sections.append(value(metric, runs, weights))
    if None not in sections:
        by_sections = math.sqrt(variance(map(math.log, sections)) / len(sections))
        if by_sections > error:
            error, freedom = by_sections, min(freedom, len(sections) - 1)
    return whole, error, freedom, length


def tail(t, freedom):
    """Probability beyond t on both sides: the integral of cos^(freedom - 1) from atan(t / sqrt(freedom)) to a right angle."""
    begin, steps = math.atan(t / math.sqrt(freedom)), 4000
    width = (math.pi / 2 - begin) / steps
    of = [max(math.cos(begin + nth * width), 0) ** (freedom - 1) for nth in range(steps + 1)]
    area = width / 3 * (of[0] + of[-1] + 4 * sum(of[1:-1:2]) + 2 * sum(of[2:-1:2]))
    return area * 2 / math.sqrt(math.pi) * math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))


def exceeded(probability, freedom):
    """The t that is exceeded with this probability."""
    low, high = 0, 1
    while tail(high, freedom) > probability:
        high *= 2
    for _ in range(36):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle, freedom) > probability else (low, middle)
    return (low + high) / 2


def welch(one, other, of_one, of_other):
    return (one + other) ** 2 / (one**2 / of_one + other**2 / of_other) if one + other else of_one + of_other


def middle(values):
    """Mean, its squared error, and degrees of freedom: of twenty or more those without a fifth at each end."""
    values, count = sorted(values), len(values)
    aside = count // 5 if count >= 20 else 0
    kept = values[aside:count - aside]
    pulled = [kept[0]] * aside + kept + [kept[-1]] * aside
    left = len(kept)
    return fmean(kept), variance(pulled) * (count - 1) / left / (left - 1), left - 1


def adjusted(metric, sides, logs, paired):
    """Logarithms without what the metric explains, and the squared error's factor."""
    xs = [[math.log(value(metric, [run], once([run]))) for run in side] for side in sides]
    groups = list(zip(xs, logs))
    if paired:
        groups = [[[b - a for a, b in zip(*of)] for of in (xs, logs)]]
    slopes = [(y[b] - y[a]) / (x[b] - x[a]) for x, y in groups for b in range(len(x)) for a in range(b) if x[a] != x[b]]
    slope, middle_of = median(slopes) if slopes else 0, fmean(xs[0] + xs[1])
    squares = sum((one - fmean(x)) ** 2 for x, _ in groups for one in x)
    weight = 1 / len(xs[0]) + (0 if paired else 1 / len(xs[1]))
    more = (fmean(xs[1]) - fmean(xs[0])) ** 2 / squares / weight if squares else 0
    return [[y - slope * (x - middle_of) for x, y in zip(*one)] for one in zip(xs, logs)], 1 + more


def difference(metric, sides, options, by=None):
    """As `by_runs`, as if the metric `by` were the same in all runs."""
    if by in (None, metric):
        return by_runs(metric, sides, options)
    if max(map(len, sides)) < RUNS:
        return None
    logs = [[math.log(value(metric, [run], once([run]))) for run in side] for side in sides]
    logs, more = adjusted(by, sides, logs, options["paired"])
    change, error, freedom, known = by_runs(metric, sides, options, logs)
    return change, error * math.sqrt(more), max(freedom - 1, 1), known


def by_runs(metric, sides, options, given=None):
    """ln(new / base), its standard error, degrees of freedom, and whether how runs differ is known; None if nothing is."""
    if options["paired"] or max(map(len, sides)) >= RUNS:
        logs = [[value(metric, [run], once([run])) for run in side] for side in sides]
        if any(None in side for side in logs):
            return None
        base, new = given or ([math.log(one) for one in side] for side in logs)
        a, b = len(base), len(new)
        if options["paired"]:
            mean, squared, freedom = middle([y - x for x, y in zip(base, new)])
            return mean, math.sqrt(squared), freedom, True
        change = fmean(new) - fmean(base)
        if min(a, b) >= RUNS:
            one, other = variance(base) / a, variance(new) / b
            return change, math.sqrt(one + other), welch(one, other, a - 1, b - 1), True
        squares = sum(variance(side) * (len(side) - 1) for side in (base, new) if len(side) > 1)
        return change, math.sqrt(squares / (a + b - 2) * (1 / a + 1 / b)), a + b - 2, True
    if any(quantity(part)[0] in ("min", "max") for part in metric.split(" / ")):
        return None
    base, new = (by_blocks(metric, side, options, word) for side, word in zip(sides, ("base", "new")))
    if base is None or new is None:
        return None
    spread = (options["run_spread"] or 0) ** 2
    one, other = base[1] ** 2 + spread / len(sides[0]), new[1] ** 2 + spread / len(sides[1])
    known = options["run_spread"] is not None
    return math.log(new[0] / base[0]), math.sqrt(one + other), welch(one, other, base[2], new[2]), known


def least(metric):
    """Samples that are needed."""
    shares = [float(kind[1:]) / 100 for kind in (quantity(part)[0] for part in metric.split(" / ")) if kind[0] == "p"]
    return max([20, *(math.ceil(10 / min(share, 1 - share) - 1e-6) for share in shares)])


def enough(metric, runs):
    """Whether the rarest series has enough samples, and few enough of them lack an end."""
    for part in metric.split(" / "):
        kind, name = quantity(part)
        if any(name not in run["series"] for run in runs):
            return False
        of_runs = [run["series"][name] for run in runs]
        seen, missing = sum(sum(one["count"]) for one in of_runs), sum(one.get("missing", 0) for one in of_runs)
        allowed = 0 if kind in ("min", "max") else min(float(kind[1:]), 100 - float(kind[1:])) / 1000 if kind[0] == "p" else 0.01
        if kind != "busy" and seen < least(metric) or missing > (seen + missing) * allowed:
            return False
    return True


def verdict(change, low, high, p_holm, more_is_better, options, known):
    threshold = math.log1p(options["min_effect"])
    if not known:
        return "indeterminate"
    if p_holm <= 1 - options["confidence"] and abs(change) >= threshold:
        return "better" if (change > 0) == more_is_better else "worse"
    return "same" if -threshold <= low and high <= threshold else "indeterminate"


BASE, NEW = WORDS[:WORDS.index("--")], WORDS[WORDS.index("--") + 1:]
NEW, OPTIONS = NEW[:NEW.index("--")], NEW[NEW.index("--") + 1:]
DONE = subprocess.run([RTRACE, "diff", "--json", *OPTIONS, *BASE, "--", *NEW], stdout=subprocess.PIPE, check=False)
THEIRS = json.loads(DONE.stdout)
SIDES = [[run for path in side for run in json.load(open(path, encoding="utf-8"))["runs"]] for side in (BASE, NEW)]
same("comparable", True, THEIRS["comparability"]["possible"])
FOUND = {}
for one in THEIRS["metrics"]:
    if all(enough(one["metric"], side) for side in SIDES):
        FOUND[one["metric"]] = difference(one["metric"], SIDES, THEIRS["options"], THEIRS["adjust_for"])
MEASURED = {metric: found for metric, found in FOUND.items() if found}
P = {m: tail(abs(found[0]) / found[1], found[2]) if found[1] else float(found[0] == 0) for m, found in MEASURED.items()}
HOLM, GREATEST = {}, 0
for rank, m in enumerate(sorted(P, key=P.get)):
    GREATEST = max(GREATEST, min(1, (len(P) - rank) * P[m]))
    HOLM[m] = GREATEST
for one in THEIRS["metrics"]:
    name, found = one["metric"], MEASURED.get(one["metric"])
    if found is None:
        same(f"{name} measured", None, one["p"])
        same(f"{name} verdict", "indeterminate", one["verdict"])
        continue
    values = [[value(name, [run], once([run])) for run in side] for side in SIDES]
    for side, ours, theirs in zip(("base", "new"), values, one["runs"]):
        same(f"{name} {side} runs", len(ours), len(theirs))
        for x, y in zip(ours, theirs):
            same(f"{name} {side} run", x, y)
    # Of values that are all the same rounding decides on the degrees of freedom.
    for key, part in (("change", 0), ("error", 1), ("freedom", 2)):
        if key != "freedom" or found[1] > 1e-12:
            same(f"{name} {key}", found[part], one["difference"][key])
    same(f"{name} ratio", math.expm1(found[0]), one["change"])
    same(f"{name} values", one["new"] / one["base"] - 1, one["change"])
    same(f"{name} p", P[name], one["p"], 1e-5)
    same(f"{name} p after Holm", HOLM[name], one["p_holm"], 1e-5)
    reach = exceeded((1 - THEIRS["options"]["confidence"]) / len(P), found[2]) * found[1]
    low, high = found[0] - reach, found[0] + reach
    if found[3]:
        limit = max(reach, math.log1p(THEIRS["options"]["min_effect"]))
        same(f"{name} finds", math.expm1(limit + exceeded(0.2, found[2]) * found[1]), one["reach"]["finds"], 1e-5)
        # Where this number of runs varies like these, their errors are as small as the least effect asks.
        runs, needed = one["difference"]["runs"], one["reach"]["runs"]
        for number, enough in ((needed, True), (needed - 1, False)):
            freedom = max(found[2] * number / runs, 1)
            errors = exceeded((1 - THEIRS["options"]["confidence"]) / len(P), freedom) + exceeded(0.1, freedom)
            is_enough = errors * one["difference"]["spread"] <= math.log1p(THEIRS["options"]["min_effect"]) * math.sqrt(number)
            if number >= RUNS:
                same(f"{name}: {number} runs are enough", enough, is_enough)
    for ours, theirs in zip((low, high), one["interval"]):
        same(f"{name} interval", math.expm1(ours), theirs, 1e-5)
    same(f"{name} verdict", verdict(found[0], low, high, HOLM[name], one["more_is_better"], THEIRS["options"], found[3]), one["verdict"])
print(f"diff, {len(MEASURED)} metrics, {differences} differences")
sys.exit(differences > 0)
