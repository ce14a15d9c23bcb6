"""Writes counts.txt.gz: NumPy's histograms and quantiles.

A line is "op;dtype;shape;items;edges or quantiles;skip NaN;result". Items are in hexadecimal, other numbers as in Python.
Quantiles are those of the items as float64. See TestCountsAsNumPy.
"""
import gzip, random, warnings
import numpy as np

random.seed(20261123)
warnings.simplefilter("ignore")
lines = []
KINDS = ["|i1", "|u1", "<i2", ">u2", "<i4", "<u4", ">i8", "<u8", "<f2", "<f4", ">f4", "<f8"]
while len(lines) < 2000:
    dtype = np.dtype(random.choice(KINDS))
    shape = tuple(random.randint(1, 9) for _ in range(random.randint(1, 3)))
    n = int(np.prod(shape))
    wide = random.random() < 0.5
    if dtype.kind == "f":
        top = 60000 if dtype.itemsize == 2 else 1e30 if wide else 10
        one = lambda: random.choice([random.uniform(-top, top), random.randint(-3, 3), 0.0, -0.0])
    else:
        i = np.iinfo(dtype)
        one = lambda: random.randint(i.min, i.max) if wide else random.randint(max(i.min, -5), 5)
    share = random.choice([0, 0, 0, 0.1, 0.6, 1]) if dtype.kind == "f" else 0
    a = np.array([np.nan if random.random() < share else one() for _ in range(n)], dtype="f8" if dtype.kind == "f" else dtype)
    a = a.astype(dtype).reshape(shape)
    f = a.astype("f8")
    skip = random.random() < 0.5
    if random.random() < 0.5:
        known = [x for x in f.ravel().tolist() if x == x] or [0.0]
        low, high = min(known), max(known)
        kind = random.randint(0, 3)
        if kind == 0:
            edges = np.linspace(low, high, random.randint(2, 40))
        elif kind == 1:
            edges = np.linspace(-5, 5, random.choice([2, 11, 21]))
        elif kind == 2:
            edges = np.sort([random.choice(known + [random.uniform(-6, 6)]) for _ in range(random.randint(2, 9))])
        else:
            edges = np.array([-np.inf, -1, 0, 0, 2, np.inf])
        counts, _ = np.histogram(f, edges)
        result = ",".join(map(str, counts))
        args = ",".join(float(x).hex() for x in edges)
        lines.append(";".join(["histogram", dtype.str, ",".join(map(str, shape)), a.tobytes().hex(), args, "0", result]))
        continue
    q = [random.choice([0, 1, 0.5, 0.25, random.random()]) for _ in range(random.choice([1, 2, 3, 5, 12]))]
    want = (np.nanquantile if skip else np.quantile)(f, q)
    if skip and np.isnan(f).all():
        want = np.full(len(q), np.nan)
    result = ",".join("nan" if x != x else float(x).hex() for x in want)
    args = ",".join(float(x).hex() for x in q)
    lines.append(";".join(["quantile", dtype.str, ",".join(map(str, shape)), a.tobytes().hex(), args, str(int(skip)), result]))
with gzip.GzipFile("counts.txt.gz", "wb", mtime=0) as z:
    z.write("\n".join(lines).encode())
