"""Writes views.txt.gz: NumPy's results of chains of views, of reshape and of astype.

"v;dtype;shape;steps;result shape;result dtype;checksum" is a chain of views of an array whose byte i is
(i * i * 31 + i * 7 + (i >> 3)) mod 256. Steps are separated by "|". The checksum is the CRC-32 of the items in C order.
The dtype of a structure is only its size. "s;dtype;items" holds items in hexadecimal, and each following line
"c;dtype;items" the result of astype.
"""
import gzip, random, warnings, zlib
import numpy as np

random.seed(20260131)
warnings.simplefilter("ignore")
STRUCT = "[('a', '<i2'), ('pos', [(('abscissa', 'x'), '<f4'), ('y', '>i4', (2, 3)), ('n', '|u1', (3,))], (2,)), ('t', '|S3')]"
NESTED = "{'names': ['p', 'q', 'r.s'], 'formats': [[('u', '<i4'), ('v', [('w', '<f8'), ('z', '|b1')])], '<c8', '>u2'], 'offsets': [10, 2, 0], 'itemsize': 23}"
FIELDS = {STRUCT: ["a", "pos", "pos.x", "pos.abscissa", "pos.y", "pos.n", "t"], NESTED: ["p", "p.u", "p.v", "p.v.w", "p.v.z", "q", "r.s"]}


def field(a, path):
    while path:
        for k in range(len(path), 0, -1):
            if path[:k] in (a.dtype.fields or {}) and (k == len(path) or path[k] == "."):
                a, path = a[path[:k]], path[k + 1 :]
                break
        else:
            raise KeyError(path)
    return a


def end(n):
    return random.choice(["", str(random.randint(-n - 1, n + 1))])


def step(a, text):
    r, n = random.randint(0, 8), a.ndim
    order = random.sample(range(n), n)
    if r <= 1:
        words = []
        for k in range(random.randint(0, n)):
            words.append(random.choice([end(a.shape[k]) + ":" + end(a.shape[k]) + ":" + random.choice(["1", "-1", "2", "-3"]), ":"] + ([str(random.randint(-a.shape[k], a.shape[k] - 1))] if a.shape[k] else [])))
            if random.random() < 0.1:
                words.append("None")
        if random.random() < 0.2:
            words.append("...")
        words = ",".join(words)
        return "slice " + words, np.asarray(eval("a[%s]" % (words or "...")), a.dtype)
    if r == 2:
        return "transpose " + ",".join(map(str, order)), a.transpose(order)
    if r == 3:
        axes = tuple(x - random.choice([0, n]) for x in order[: random.randint(0, n)])
        return "flip " + ",".join(map(str, axes)), np.asarray(np.flip(a, axes or None), a.dtype)
    if r == 4:
        axes = random.sample(range(n + 2), 2) if random.random() < 0.3 else [random.randint(-n - 1, n)]
        return "expand " + ",".join(map(str, axes)), np.expand_dims(a, tuple(axes))
    if r == 5:
        return "squeeze ", np.squeeze(a)
    if r == 6:
        shape = [random.randint(0, 3) if x == 1 and random.random() < 0.7 else x for x in a.shape]
        shape = [random.randint(1, 3) for _ in range(random.randint(0, 2))] + shape
        return "broadcast " + ",".join(map(str, shape)), np.broadcast_to(a, shape)
    if r == 7 and text in FIELDS and a.dtype.names:
        paths = FIELDS[text] if a.dtype == np.dtype(eval(text)) else list(a.dtype.names)
        path = random.choice(paths)
        return "field " + path, field(a, path)
    if r == 8:
        shape, left = [], a.size
        for _ in range(random.randint(0, 3)):
            d = random.choice([k for k in range(1, left + 1) if left % k == 0]) if left else random.randint(0, 2)
            shape.append(d)
            left = left // d if d else 0
        shape.append(left if a.size else 0)
        random.shuffle(shape)
        text = list(shape)
        if a.size and random.random() < 0.5:
            text[random.randrange(len(text))] = -1
        return "reshape " + ",".join(map(str, text)), a.reshape(shape)
    return None, a


lines = []
while len(lines) < 3000:
    text = random.choice(["'|u1'", "'<i4'", "'>f8'", "'|V12'", "'|V300'", STRUCT, STRUCT, NESTED, NESTED])
    dtype = np.dtype(eval(text))
    shape = tuple(random.choice([0, 1, 1, 2, 3, 4, 5, 7, 9]) for _ in range(random.randint(0, 4)))
    if random.random() < 0.8:
        shape = tuple(max(n, 1) for n in shape)
    count = int(np.prod(shape))
    if count > 500:
        continue
    i = np.arange(count * dtype.itemsize, dtype=np.int64)
    base = ((i * i * 31 + i * 7 + (i >> 3)) & 255).astype("u1").tobytes()
    a = np.ndarray(shape, dtype, base)
    words = []
    for _ in range(random.randint(1, 6)):
        word, b = step(a, text)
        if word is None or b.ndim > 16 or b.size > 5000:
            continue
        a = b
        words.append(word)
    kind = "%d" % a.dtype.itemsize if a.dtype.names else a.dtype.str
    lines.append(";".join(["v", text.strip("'"), ",".join(map(str, shape)), "|".join(words), ",".join(map(str, a.shape)), kind, "%08x" % zlib.crc32(a.tobytes())]))

WHOLE = ["|b1", "|i1", "|u1", "<i2", ">u2", "<i4", ">i4", "<u4", "<i8", "<u8", ">u8"]
FLOATS = ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c8", "<c16", ">c16"]


def numbers(d):
    t = np.dtype(d)
    if t.kind == "b":
        return np.array([0, 1, 2, 255, 0, 1], "u1").view("b1")
    if t.kind in "iu":
        i = np.iinfo(t)
        v = [i.min, i.max, i.max - 1, 0, 1] + [s * (2**k + e) for k in range(0, 65, 1) for e in (-1, 0, 1) for s in (1, -1)]
        v = [x for x in v if i.min <= x <= i.max] + [random.randint(i.min, i.max) for _ in range(40)]
        return np.array(v, t)
    if t.kind == "f":
        v = [0.0, -0.0, 0.5, -0.5, 0.99, 1.5, -1.5, np.inf, -np.inf, np.nan, 65504, 65519, 65520, 1e-8, 6e-8, 6.1e-5, 1e-40, 3e-45, 1e-310, 3.5e38, 1e300]
        v += [s * x for k in (7, 8, 15, 16, 31, 32, 53, 62, 63, 64, 65) for x in (2.0**k, 2.0**k - 1, 2.0**k + 1, np.nextafter(2.0**k, 0), 2.0**k - 0.5) for s in (1, -1)]
        v += [random.uniform(-1, 1) * 10 ** random.uniform(-9, 22) for _ in range(60)]
        return np.array(v).astype(t)
    if t.kind == "c":
        re, im = numbers("<f8"), [random.choice([0, -0.0, 1, np.nan, -3.25, 1e39]) for _ in range(300)]
        v = np.empty(len(re) + 2, t)
        v.real[:-2], v.imag[:-2] = re, im[: len(re)]
        v[-2:] = [0, 1j]
        return v
    if t.kind in "Mm":
        return np.array([0, 1, -1, 10**9, -(2**63), 2**63 - 1], "i8").astype(t.newbyteorder("=")).astype(t)
    if t.kind == "S":
        return np.array([b"", b"a", b"abcde", b"ab\xff", b"abcdefg"]).astype(t)
    return np.array(["", "a", "ab\u20ac\U0001f600e", "abcdefgh"]).astype(t)


pairs = [(a, b) for a in WHOLE + FLOATS for b in WHOLE + FLOATS]
for kinds in (["|S3", "|S5", "|S9"], ["<U2", ">U4", "<U4", ">U9"], ["<M8[s]", ">M8[s]", "<i8", ">i4", "<u2"], ["<m8[ns]", ">m8[ns]", "<i8", "|u1"]):
    pairs += [(a, b) for a in kinds for b in kinds if (a, b) not in pairs]
last = None
for a, b in pairs:
    if a != last:
        src = numbers(a)
        # NumPy converts the last few items, or the last few of 128 items in the other byte order, with other code.
        # The results differ for numbers that do not fit.
        if src.dtype.kind in "fc":
            parts = [src[k : k + 112] for k in range(0, src.size, 112)]
            src = np.concatenate([np.concatenate([x, np.zeros(128 - x.size, x.dtype)]) for x in parts]).astype(a)
        last = a
        lines.append("s;%s;%s" % (a, src.tobytes().hex()))
    lines.append("c;%s;%s" % (b, src.astype(b).tobytes().hex()))
with open("views.txt.gz", "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z:
    z.write(("\n".join(lines) + "\n").encode())
