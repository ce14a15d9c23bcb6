"""Writes making.txt.gz: NumPy's results of arange, linspace, reductions, and .npy files.

Fields are separated by semicolons. Data is hexadecimal, and floats are in C's hexadecimal notation. Long results are the
number of items and the CRC-32 of their bytes. See TestNumPyRanges and TestNumPyReductions for the fields of each line.
"""
import gzip, io, random, warnings, zlib
import numpy as np

random.seed(20261120)
warnings.simplefilter("ignore")
lines = []


def put(*fields):
    lines.append(";".join(map(str, fields)))


def crc(a):
    return "%d;%08x" % (a.size, zlib.crc32(np.ascontiguousarray(a).tobytes()))


def number(dtype, few=False):
    d = np.dtype(dtype)
    if d.kind == "f":
        x = random.choice([random.uniform(-9, 9), random.randint(-50, 50), random.randint(-9, 9) / 8, 0.1, 1e-3, -0.3])
        return d.type(x)
    i = np.iinfo(d)
    r = random.random()
    if r < 0.1:
        return random.choice([int(i.min), int(i.max), int(i.max) // 3])
    return random.randint(max(int(i.min), -90), min(int(i.max), 90))


def text(x):
    return float(x).hex() if isinstance(x, (float, np.floating)) else int(x)


for dtype in ["i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8"]:
    n = 0
    while n < 120:
        start, stop, step = number(dtype), number(dtype), number(dtype)
        if random.random() < 0.3 and np.dtype(dtype).kind == "f":
            start, stop, step = map(np.dtype(dtype).type, random.choice([(0, 1, 0.1), (1, 1.3, 0.1), (0, 5e-324, 1e10), (-1, 1, 1e-3), (2, 1, np.inf)]))
        if step == 0 or abs(float(stop) - float(start)) / abs(float(step)) > 20000:
            continue
        try:
            a = np.arange(start, stop, step, dtype=dtype)
        except (ValueError, OverflowError):
            continue
        n += 1
        put("arange", dtype, text(start), text(stop), text(step), crc(a))
    for _ in range(60):
        lo, hi = (-90.0, 90.0) if np.dtype(dtype).kind != "u" else (0.0, 200.0)
        start, stop = (random.choice([random.uniform(lo, hi), float(random.randint(int(lo), int(hi)))]) for _ in range(2))
        if random.random() < 0.1:
            stop = start + 5e-324
        n, end = random.choice([0, 1, 2, 3, 7, 50, 1000, 4097]), random.random() < 0.6
        put("linspace", dtype, text(start), text(stop), n, int(end), crc(np.linspace(start, stop, n, endpoint=end, dtype=dtype)))

records = [
    [("a", "<i4"), ("b", ">f8", (2, 3))],
    np.dtype([("x", "i1"), ("y", "<f8")], align=True),
    {"names": ["p", "q"], "formats": ["<u2", "S3"], "offsets": [4, 9], "itemsize": 16},
    [(("a title", "n"), "<U2"), ("c", [("d", "<M8[ns]"), ("e", "?")])],
]
for dtype in ["?", "i1", "<u2", ">i4", "<f2", ">f4", "<f8", "<c8", ">c16", "S5", "<U3", ">U2", "<M8[25s]", "<m8[us]", "V7"] + records:
    for shape in [(), (0,), (5,), (1, 7), (3, 4), (2, 3, 4), (2, 0, 3)]:
        d = np.dtype(dtype)
        a = np.frombuffer(random.randbytes(d.itemsize * int(np.prod(shape))) if d.kind not in "?U" and "U" not in str(d)
                          else bytes(d.itemsize * int(np.prod(shape))), dtype=d).reshape(shape)
        for order in "CF":
            b = np.zeros(shape, d, order=order)  # bytes between fields are zero
            b[...] = a
            f = io.BytesIO()
            np.save(f, b)
            c = np.zeros(shape, d)
            c[...] = a
            put("npy", f.getvalue().hex(), c.tobytes().hex())


def sample(dtype, shape):
    d, n = np.dtype(dtype), int(np.prod(shape))
    r = random.random()
    if d.kind in "?b":
        a = [random.random() < (0.5 if r < 0.5 else 0.03) for _ in range(n)]
    elif d.kind in "iu":
        i = np.iinfo(d)
        lo, hi = (int(i.min), int(i.max)) if r < 0.3 else (max(int(i.min), -3), 3) if r < 0.7 else (0, 0)
        a = [random.randint(lo, hi) for _ in range(n)]
    elif d.kind in "Mm":
        a = [random.choice([-5, 0, 7, 10**9] + ([np.iinfo("i8").min] if r < 0.5 else [])) for _ in range(n)]
        return np.array(a, dtype="<i8").view(d.newbyteorder("<")).astype(d).reshape(shape)
    else:
        pool = [0.0, -0.0, 1.5, -2.25, 7.0] + ([np.nan] if r < 0.3 else []) + ([np.inf, -np.inf] if r < 0.15 else [])
        one = lambda: random.choice(pool) if r < 0.6 else random.uniform(-4, 4) + (100 if r > 0.9 else 0)
        a = [complex(one(), one()) if d.kind == "c" else one() for _ in range(n)]
        if r > 0.97:
            a = [a[0]] * n if n else a
    return np.array(a, dtype=d).reshape(shape)


ops = ["sum", "min", "max", "mean", "std", "any", "all", "count_nonzero", "argmin", "argmax"]
for dtype in ["?", "i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16",
              ">i2", ">u8", ">f2", ">f4", ">f8", ">c8", "<M8[s]", ">m8[ms]"]:
    for _ in range(110):
        shape = tuple(random.choice([0, 1, 2, 3, 4, 5]) for _ in range(random.randint(0, 4)))
        if random.random() < 0.8:
            shape = tuple(max(n, 1) for n in shape)
        if np.prod(shape) > 120:
            continue
        a = sample(dtype, shape)
        op = random.choice(["min", "max", "argmin", "argmax"] if a.dtype.kind in "Mm" else ops)
        axes = None
        if shape and random.random() < 0.75:
            axes = tuple(sorted(random.sample(range(len(shape)), random.randint(1, len(shape)))))
            axes = tuple(x - len(shape) if random.random() < 0.3 else x for x in axes)
        keep, ddof = random.random() < 0.3, 0
        if op in ("argmin", "argmax") and axes is not None:
            axes = axes[:1]
        kw = dict(axis=axes[0] if axes is not None and len(axes) == 1 else axes, keepdims=keep)
        if op == "std":
            ddof = kw["ddof"] = random.choice([0, 0, 1, 2])
        try:
            r = np.asarray(getattr(np, op)(a, **kw))
            r = r.astype(r.dtype.newbyteorder("<"))
            res = ",".join(map(str, r.shape)), r.dtype.str, r.tobytes().hex()
        except ValueError:
            res = "error", "", ""
        put("reduce", dtype, ",".join(map(str, shape)), a.tobytes().hex(), op, "all" if axes is None else ",".join(map(str, axes)), int(keep), ddof, *res)
with open("making.txt.gz", "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z:
    z.write(("\n".join(lines) + "\n").encode())
print(len(lines))
