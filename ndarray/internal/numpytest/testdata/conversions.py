"""Writes conversions.txt.gz: NumPy's results of astype, alone and in chains of views.

A line is "kind;dtype;shape;items;steps;result shape;result dtype;checksum". The items are in hexadecimal. Steps are
separated by "|", in the notation of views.py, and "astype dtype". The checksum is the CRC-32 of the result in C order.
Lines of the kind "read" have one astype at the end, to a little-endian type that has every value of the items.
"""
import gzip, random, warnings, zlib
import numpy as np

random.seed(20261123)
warnings.simplefilter("ignore")
NUMBERS = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
STRUCT = "[('a', '<i2'), ('p', [('x', '>f4'), ('n', '<u2', (2, 3))]), ('z', '>c8')]"
SWAPPED = "[('a', '>i2'), ('p', [('x', '<f4'), ('n', '>u2', (2, 3))]), ('z', '>c8')]"
lines = []


def ordered(d):
    return d if np.dtype(d).itemsize == 1 else random.choice("<>") + d


def exact(to, d):
    """Reports whether type to has every value of type d."""
    return np.can_cast(d, to) and not (np.dtype(d).itemsize == 8 and np.dtype(d).kind in "iu" and np.dtype(to).kind in "fc")


def values(d, shape, target_ints):
    """Returns items of type d. Floats that become integers are small, because NumPy leaves other results open."""
    n = int(np.prod(shape))
    k = np.dtype(d).kind
    if k in "?bui":
        raw = np.frombuffer(random.randbytes(n * np.dtype(d).itemsize), dtype=d)
        return (raw.view("u1") & 1).view(d) if k in "?b" else raw
    if target_ints:
        a = np.array([random.choice([0.0, -0.0, 0.5, 1.75, random.uniform(0, 120), random.randint(0, 127)]) for _ in range(n)], "f8")
        return a.astype(d)
    if random.random() < 0.3:
        return np.frombuffer(random.randbytes(n * np.dtype(d).itemsize), dtype=d)
    pool = [0.0, -0.0, np.nan, np.inf, -np.inf, 65519.9, 65520.0, 2.0**-25, 2.0**-24 * 1.5, 1e-310, 3.4028235677973366e38, 1.0 + 2.0**-24, 0.1]
    one = lambda: random.choice(pool) * random.choice([1, -1]) if random.random() < 0.4 else random.uniform(-9, 9) * 10.0 ** random.randint(-9, 9)
    return np.array([complex(one(), one()) if k == "c" else one() for _ in range(n)]).astype(d)


def quiet(a):
    """Reports whether no NaN is a signaling one, whose conversion depends on the machine."""
    if a.dtype.kind not in "fc":
        return True
    x = np.ascontiguousarray(a)
    x = x.astype(x.dtype.newbyteorder("<"))
    w = a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1)
    f = x.view("<f%d" % w)
    bits = f.view("<u%d" % w)
    bit = {2: 9, 4: 22, 8: 51}[w]
    return bool(np.all(~np.isnan(f) | ((bits >> np.array(bit, bits.dtype)) & np.array(1, bits.dtype) == 1)))


def shape():
    s = [random.randint(1, 6) for _ in range(random.randint(0, 3))]
    if random.random() < 0.05 and s:
        s[0] = 0
    if random.random() < 0.03:
        s = [random.randint(300, 700)]
    return tuple(s)


def view(a):
    n, r = a.ndim, random.randint(0, 4)
    if r == 0 and n:
        order = random.sample(range(n), n)
        return "transpose " + ",".join(map(str, order)), a.transpose(order)
    if r == 1 and n:
        k = random.randrange(n)
        return "flip %d" % k, np.flip(a, k)
    if r == 2 and n:
        words = ",".join(random.choice([":", "::2", "::-1", "1:", "-3:"]) for _ in range(random.randint(1, n)))
        return "slice " + words, eval("a[%s]" % words)
    if r == 3:
        to = (2,) + a.shape
        return "broadcast " + ",".join(map(str, to)), np.broadcast_to(a, to)
    if r == 4 and a.dtype.names:
        name = random.choice(a.dtype.names)
        return "field " + name, a[name]
    return None, a


def put(kind, dtype, a, steps, r):
    d = r.dtype
    lines.append(";".join(map(str, [kind, dtype, ",".join(map(str, a.shape)), a.tobytes().hex(), "|".join(steps), ",".join(map(str, r.shape)),
                                    d.str, "%08x" % zlib.crc32(np.ascontiguousarray(r).tobytes())])))


reads = 0
while reads < 1100:
    d, to = random.choice(NUMBERS), random.choice(NUMBERS)
    if to == "?" or not exact(to, d):
        continue
    dtype = ordered(d)
    a = values(d, s := shape(), False).reshape(s).astype(dtype)
    if not quiet(a):
        continue
    r, steps = a, []
    if random.random() < 0.5:
        step, r = view(r)
        steps += [step] if step else []
    to = to if np.dtype(to).itemsize == 1 else "<" + to
    put("read", dtype, a, steps + ["astype " + to], r.astype(to))
    reads += 1
chains = 0
while chains < 1300:
    d, s = random.choice(NUMBERS), shape()
    if random.random() < 0.2:
        dtype = STRUCT
        a = np.zeros(s, np.dtype(eval(STRUCT)))
        for name in ["a", "z"]:
            a[name] = np.array([random.randint(0, 100) for _ in range(a.size)]).reshape(s)
        a["p"]["x"] = np.array([random.uniform(0, 100) for _ in range(a.size)]).reshape(s)
        a["p"]["n"] = np.array([random.randint(0, 100) for _ in range(a.size * 6)]).reshape(s + (2, 3))
    else:
        dtype = ordered(d)
        a = values(d, s, True).reshape(s).astype(dtype)
    if not quiet(a):
        continue
    r, steps, casts = a, [], 0
    for _ in range(random.randint(1, 6)):
        if r.ndim > 6:
            break
        if random.random() < 0.5:
            if r.dtype.names:
                if r.dtype != np.dtype(eval(STRUCT)):
                    continue
                to, text = np.dtype(eval(SWAPPED)), SWAPPED
            else:
                to = text = ordered(random.choice(NUMBERS))
                if r.dtype.kind in "fc" and np.dtype(to).kind in "iu" and r.size and not np.all((np.abs(r.real) <= 120) & ((r.real >= 0) | (np.dtype(to).kind == "i"))):
                    continue
            r = r.astype(to)
            steps.append("astype " + text)
            casts += 1
        else:
            step, r = view(r)
            steps += [step] if step else []
    if casts == 0 or r.dtype.names or r.dtype.subdtype:
        continue
    put("view", dtype, a, steps, np.asarray(r))
    chains += 1
with open("conversions.txt.gz", "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z:
    z.write(("\n".join(lines) + "\n").encode())
print(len(lines))
