"""Writes nan.txt.gz: NumPy's results of reductions that ignore NaN.

A line is "op;dtype;shape;items;axes;keepdims;ddof;result shape;result dtype;items of the result". Items are in hexadecimal.
The sums and means are exact at every step, so the order of additions does not matter. Variances have data whose mean is
exact. NumPy takes NaNs for infinities in nanargmin and nanargmax, so their data has no infinities. See TestNaNAsNumPy.
"""
import gzip, random, warnings
import numpy as np

random.seed(20261124)
warnings.simplefilter("ignore")
lines = []
OPS = ["sum", "mean", "min", "max", "prod", "argmin", "argmax", "var", "std"]
KINDS = ["<f2", "<f4", "<f8", ">f4", ">f8", ">f2", "<c8", "<c16", "<i2", "|u1", "|b1"]
while len(lines) < 2600:
    op, dtype = random.choice(OPS), random.choice(KINDS)
    shape = tuple(random.randint(1, 6) for _ in range(random.randint(1, 3)))
    n, k = int(np.prod(shape)), np.dtype(dtype).kind
    if op in ("argmin", "argmax", "min", "max", "prod", "var", "std") and k == "c":
        continue
    share = random.choice([0, 0.1, 0.5, 0.9, 1])
    one = lambda: random.randint(0, 3) if k in "bu" else random.randint(-3, 3)
    if op == "prod":
        one = lambda: random.choice([1, 1, 1, 2] if k in "bu" else [1, -1, 1, 2, 0.5] if k in "fc" else [1, -1, 2])
    elif op in ("min", "max", "argmin", "argmax") and k == "f":
        one = lambda: random.choice([random.uniform(-50, 50) or 1, random.randint(1, 4)] + ([np.inf, -np.inf] if "arg" not in op else []))
    axes = None if random.random() < 0.3 else tuple(sorted(random.sample(range(len(shape)), random.randint(1, len(shape)))))
    if op in ("argmin", "argmax") and axes is not None:
        axes = axes[:1]
    item = lambda: np.nan if k in "fc" and random.random() < share else complex(one(), one()) if k == "c" and op != "prod" else one()
    if op in ("var", "std"):
        if axes is not None and axes != (len(shape) - 1,):
            axes = None
        c, d = random.randint(-3, 3) if k != "u" and k != "b" else 1, random.choice([0, 1])
        item = lambda: np.nan if k in "fc" and random.random() < share else c + random.choice([d, -d])
    a = np.array([item() for _ in range(n)]).astype(dtype).reshape(shape)
    keep, ddof = random.random() < 0.3, 0
    kw = dict(axis=axes[0] if axes is not None and len(axes) == 1 else axes, keepdims=keep)
    if op in ("var", "std"):
        ddof = kw["ddof"] = random.choice([0, 0, 1, 2])
        m = np.nanmean(a.astype("c16") if k == "c" else a.astype("f8"), axis=kw["axis"])
        if not np.all(np.isnan(m) | (m * 64 == np.round(m * 64))):
            continue  # the mean is not exact
    try:
        r = np.asarray(getattr(np, "nan" + op)(a, **kw))
        r = r.astype(r.dtype.newbyteorder("<"))
        res = [",".join(map(str, r.shape)), r.dtype.str, r.tobytes().hex()]
    except ValueError:
        res = ["error", "", ""]
    lines.append(";".join(map(str, [op, dtype, ",".join(map(str, shape)), a.tobytes().hex(), "all" if axes is None else ",".join(map(str, axes)), int(keep), ddof] + res)))
# Complex numbers in the operations that the cases above leave out. Some have a NaN in one part only.
while len(lines) < 3200:
    op, dtype = random.choice(OPS[2:]), random.choice(["<c8", "<c16", ">c8", ">c16"])
    shape = tuple(random.randint(1, 6) for _ in range(random.randint(1, 3)))
    n, share = int(np.prod(shape)), random.choice([0, 0.1, 0.5, 0.9, 1])
    part = lambda: random.randint(-2, 2)
    if op == "prod":
        one = lambda: random.choice([1, -1, 1j, -1j, 1 + 1j, 0.5])
    elif op in ("var", "std"):
        c, d = complex(part(), part()), random.choice([0, 1, 1j, 1 + 1j])
        one = lambda: c + random.choice([d, -d])
    else:
        one = lambda: complex(part(), part())
    item = lambda: one() if random.random() >= share else random.choice([complex(np.nan, np.nan), complex(np.nan, part()), complex(part(), np.nan)])
    axes = None if random.random() < 0.3 else tuple(sorted(random.sample(range(len(shape)), random.randint(1, len(shape)))))
    if axes is not None and op in ("argmin", "argmax"):
        axes = axes[:1]
    if axes != (len(shape) - 1,) and op in ("var", "std"):
        axes = None
    a = np.array([item() for _ in range(n)]).astype(dtype).reshape(shape)
    keep, ddof = random.random() < 0.3, 0
    kw = dict(axis=axes[0] if axes is not None and len(axes) == 1 else axes, keepdims=keep)
    if op in ("var", "std"):
        ddof = kw["ddof"] = random.choice([0, 0, 1, 2])
        m = np.nanmean(a.astype("c16"), axis=kw["axis"])
        if not np.all(np.isnan(m) | (m * 64 == np.round(m.real * 64) + 1j * np.round(m.imag * 64))):
            continue  # the mean is not exact
    try:
        r = np.asarray(getattr(np, "nan" + op)(a, **kw))
        r = r.astype(r.dtype.newbyteorder("<"))
        res = [",".join(map(str, r.shape)), r.dtype.str, r.tobytes().hex()]
    except ValueError:
        res = ["error", "", ""]
    lines.append(";".join(map(str, [op, dtype, ",".join(map(str, shape)), a.tobytes().hex(), "all" if axes is None else ",".join(map(str, axes)), int(keep), ddof] + res)))
with open("nan.txt.gz", "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z:
    z.write(("\n".join(lines) + "\n").encode())
print(len(lines))
