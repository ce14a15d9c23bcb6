"""Writes times.txt.gz: NumPy's dates and timedeltas.

A line is one of

  date;dtype;item;text          the text that NumPy prints for an item
  step;dtype;seconds;nanoseconds;item   the item that NumPy rounds a time since 1970 to
  delta;dtype;item;nanoseconds          an item as nanoseconds, rounded by NumPy; "range" if it does not fit in 64 bits
  round;dtype;nanoseconds;item          nanoseconds as an item, rounded by NumPy
"""
import gzip, random
import numpy as np

random.seed(20240715)
UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]
SECONDS = {"W": 604800, "D": 86400, "h": 3600, "m": 60, "s": 1}
PARTS = {"ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}
lines = []


def fits(x):
    return -2**63 < x < 2**63


def dates():
    for unit in UNITS:
        for count in [1, 2, 3, 7, 12, 25, 100, 400]:
            per_year = {"Y": 1, "M": 12}.get(unit) or int(31556952 * PARTS.get(unit, 1)) // SECONDS.get(unit, 1)
            limit = min(2**63 - 1, per_year * 9000 // count)
            low = -min(limit, per_year * 1970 // count)  # years before 0 are printed with a sign
            xs = [0, 1, -1, 2, -2, 3, 59, 60, 365, 366, -365, low, min(limit, per_year * 8000 // count)]
            xs += [random.randint(low, min(limit, per_year * 8000 // count)) for _ in range(20)]
            xs += [random.randint(-10**k, 10**k) for k in range(1, 12)]
            for x in xs:
                if not low <= x <= limit:
                    continue
                dtype = f"M8[{count}{unit}]"
                if not fits(x * count):
                    continue
                t = np.array([x], "i8").view(dtype)[0]
                lines.append(f"date;<{dtype};{x};{str(t)}")
        lines.append(f"date;<M8[{unit}];{-2**63};NaT")
        lines.append(f"date;>M8[{unit}];{-2**63};NaT")
        lines.append(f"date;>M8[{unit}];258;{str(np.array([258], 'i8').view(f'M8[{unit}]')[0])}")


def steps():
    for unit in UNITS:
        for count in [1, 2, 3, 7, 25, 400]:
            dtype = f"M8[{count}{unit}]"
            for i in range(30):
                wide = i % 3 == 0
                sec = random.randint(-10**12, 10**12) if wide else random.randint(-9 * 10**9, 9 * 10**9) // 10 ** random.randint(0, 9)
                nsec = random.choice([0, 1, 999999999, random.randint(0, 999999999)])
                if wide or unit in ("ps", "fs", "as") and i % 2:
                    nsec = 0
                if unit in PARTS and not fits((sec * PARTS[unit])):
                    sec = random.randint(-8, 8)
                if nsec:
                    t = np.array([sec * 10**9 + nsec], "i8").view("M8[ns]")
                else:
                    t = np.array([sec], "i8").view("M8[s]")
                try:
                    x = int(t.astype(dtype).view("i8")[0])
                except OverflowError:
                    continue
                if unit in PARTS:  # if the cast overflows on the way
                    want = (sec * PARTS[unit] + (nsec * PARTS[unit] // 10**9)) // count
                    if x != want:
                        continue
                lines.append(f"step;<{dtype};{sec};{nsec};{x}")


def deltas():
    for unit in UNITS[2:]:
        num, den = SECONDS.get(unit, 1) * 10**9, PARTS.get(unit, 1)
        for count in [1, 2, 3, 7, 25, 400]:
            dtype = f"m8[{count}{unit}]"
            for i in range(30):
                x = random.randint(-10**18, 10**18) // 10 ** random.randint(0, 18)
                ns = x * count * num // den
                if not fits(ns) or not fits(x * count):
                    lines.append(f"delta;<{dtype};{x};{ns if fits(ns) else 'range'}")
                else:
                    got = int(np.array([x], "i8").view(dtype).astype("m8[ns]").view("i8")[0])
                    assert got == ns or abs(ns) * den > 2**62, (dtype, x, got, ns)
                    lines.append(f"delta;<{dtype};{x};{ns}")
                ns = random.randint(-2**63 + 1, 2**63 - 1) // 10 ** random.randint(0, 18)
                x = ns * den // (num * count)
                if not fits(x) or not fits(ns * den // num):
                    lines.append(f"round;<{dtype};{ns};{x if fits(x) else 'range'}")
                else:
                    got = int(np.array([ns], "i8").view("m8[ns]").astype(dtype).view("i8")[0])
                    assert got == x or abs(ns) * den > 2**62, (dtype, ns, got, x)
                    lines.append(f"round;<{dtype};{ns};{x}")


dates()
steps()
deltas()
with gzip.GzipFile("times.txt.gz", "wb", mtime=0) as f:
    f.write(("\n".join(lines) + "\n").encode())
print(len(lines))
