"""Writes selections.txt.gz: random selections with NumPy's results.

A line is "shape;selection;result shape;checksum". The checksum is the CRC-32 of the positions in C order of the selected
items, as little-endian 64-bit integers. If NumPy raises an error, the result shape is "error". A line that starts with
"long" is a slice of an axis too long for an array: "long;length;slice;start;step;count", from Python's range.
"""
import gzip, random, zlib
import numpy as np

random.seed(20240611)
HUGE = [2**31 - 1, 2**31, 2**62, 2**63 - 1, 2**63, 2**64, 10**25]


def bound(n):
    if random.random() < 0.3:
        return ""
    if random.random() < 0.04:
        return str(random.choice([1, -1]) * random.choice(HUGE))
    return str(random.randint(-n - 3, n + 3))


def step(n):
    r = random.random()
    if r < 0.02:
        return "0"
    if r < 0.05:
        return str(random.choice([1, -1]) * random.choice(HUGE))
    return str(random.choice([1, 1, -1, -1, 2, -2, 3, -3, n, -n - 1, n + 2]) or 1)


def slice_text(n):
    t = bound(n) + ":" + bound(n)
    r = random.random()
    return t if r < 0.4 else t + ":" if r < 0.45 else t + ":" + step(n)


def entry(n):
    r = random.random()
    if r < 0.25:
        edge = 1 if random.random() < 0.04 else 0
        if random.random() < 0.003:
            return str(random.choice(HUGE))
        return str(random.randint(-n - edge, max(n - 1 + edge, -n)))
    if r < 0.35:
        return ":"
    return slice_text(n)


def selection(shape):
    used = random.randint(0, len(shape) + (random.random() < 0.03))
    front = random.randint(0, used) if random.random() < 0.4 else used
    axes = list(range(front)) + list(range(len(shape) - (used - front), len(shape)))
    words = [entry(shape[a]) if 0 <= a < len(shape) else entry(3) for a in axes]
    if front < used or random.random() < 0.2:
        words.insert(front, "...")
        if random.random() < 0.02:
            words.append("...")
    while random.random() < 0.15:
        words.insert(random.randint(0, len(words)), random.choice(["None", "np.newaxis"]))
    return random.choice([", ", ",", " , "]).join(words)


lines = []
while len(lines) < 5000:
    shape = tuple(random.choice([0, 1, 1, 2, 3, 4, 5, 7, 9, 12]) for _ in range(random.randint(0, 5)))
    if random.random() < 0.7:
        shape = tuple(max(n, 1) for n in shape)
    if np.prod(shape) > 4000:
        continue
    sel = selection(shape)
    a = np.arange(np.prod(shape, dtype=np.int64), dtype="<i8").reshape(shape)
    try:
        r = np.asarray(eval("a[%s]" % (sel or "()")), dtype="<i8")
        res = ",".join(map(str, r.shape)) + ";%08x" % zlib.crc32(r.tobytes())
    except (IndexError, ValueError, OverflowError):
        res = "error;"
    lines.append(",".join(map(str, shape)) + ";" + sel + ";" + res)
for _ in range(400):
    n = random.choice([2**31 - 1, 2**32, 2**40, 2**62, 2**63 - 2])
    sel = ":".join(
        random.choice(["", str(random.randint(-n, n)), str(random.choice([1, -1]) * random.choice(HUGE)), str(random.randint(-9, 9))])
        for _ in range(2)
    )
    st = random.choice([1, -1]) * random.choice([1, 1, 2, 7, 1000, 2**31, 2**62, 2**63 - 1, 2**63, 10**20])
    parts = [int(x) if x else None for x in sel.split(":")]
    r = range(n)[slice(parts[0], parts[1], st)]
    count = (r.stop - r.start + (r.step - (1 if r.step > 0 else -1))) // r.step
    lines.append("long;%d;%s:%d;%d;%d;%d" % (n, sel, st, r.start, r.step, max(count, 0)))
with open("selections.txt.gz", "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z:
    z.write(("\n".join(lines) + "\n").encode())
