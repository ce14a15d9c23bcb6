"""Writes lists.txt.gz: random selections with index arrays, read and written, with NumPy's results.

A line "shape" starts an array of 64-bit integers 0, 1, 2, ... of that shape. Each following line "kind;selection;result
shape;checksum" is read, and then written with the next unused integers. The checksum is the CRC-32 of the items read
and of the whole array after writing, both little-endian in C order. If NumPy raises an error, the result shape is
"error" and the array is not changed. Kinds: "n" is NumPy's a[...], "o" the same notation with a separate axis for each
list (numpy.ix_), "f" positions for numpy.take and numpy.put.
"""
import gzip, random, zlib
import numpy as np

random.seed(20251120)


def span(n):
    if random.random() < 0.3:
        return ":"
    ends = [random.choice(["", str(random.randint(-n - 2, n + 2))]) for _ in range(2)]
    return ":".join(ends) + random.choice(["", "", ":-1", ":2", ":-3", ":1"])


def number(n):
    if n == 0 or random.random() < 0.004:
        return random.randint(-n - 1, n)
    return random.randint(-n, n - 1)


def array(n, shape):
    if not shape:
        return number(n)
    return [array(n, shape[1:]) for _ in range(shape[0])]


def mask(shape, p):
    if not shape:
        return bool(random.random() < p)
    return [mask(shape[1:], p) for _ in range(shape[0])]


def joint(shape):
    """NumPy's own: lists that go together."""
    length = random.choice([0, 1, 2, 3, 3, 4, 6])
    lists = [(), (length,), (length,), (1,), (2, length), (2, 1), (1, length), (2, 1, length), (2, 1, 1)]
    if random.random() < 0.5:
        lists = [(length,)]
    words, axis, some = [], 0, random.choice([0.2, 0.4, 0.7, 0.95])
    dots = False
    while axis < len(shape):
        r = random.random()
        if random.random() < 0.06:
            words.append("None")
        if not dots and random.random() < 0.06:
            dots = True
            words.append("...")
            axis += random.randint(0, 2)
            continue
        if r < some:
            r = random.random()
            most = len(shape) - axis
            k = random.randint(1, min(most, 3))
            if r < 0.15 and np.prod(shape[axis : axis + k]) <= 60:
                lengths = list(shape[axis : axis + k])
                if random.random() < 0.01:
                    lengths[0] += 1
                words.append(str(mask(lengths, random.choice([0.2, 0.5, 3 / max(1, np.prod(lengths))]))))
                axis += k
                continue
            if r < 0.18:
                words.append(random.choice(["True", "True", "False"]))
                continue
            words.append(str(array(shape[axis], random.choice(lists))) if r < 0.85 else str(number(shape[axis])))
        else:
            words.append(span(shape[axis]))
        axis += 1
        if axis < len(shape) and random.random() < 0.04:
            break
    return ", ".join(words)


def listed(a, text):
    """The same notation with a list for each axis: an index for numpy.ix_ and the shape of the result."""
    axes, result, words = [], [], eval("[%s]" % text, {"s": slice}) if text else []
    named = sum(w is not None and w is not Ellipsis for w in words)
    if not any(w is Ellipsis for w in words):
        words.append(Ellipsis)
    for w in words:
        if w is None:
            result.append(1)
            continue
        for _ in range(a.ndim - named if w is Ellipsis else 1):
            n = a.shape[len(axes)]
            if isinstance(w, int):
                axes.append([range(n)[w]])
                continue
            if isinstance(w, list) and w and isinstance(w[0], bool):
                if len(w) != n:
                    raise IndexError("mask")
                items = [i for i, k in enumerate(w) if k]
            elif isinstance(w, list):
                items = [range(n)[i] for i in w]
            else:
                items = list(range(n)[w if isinstance(w, slice) else slice(None)])
            axes.append(items)
            result.append(len(items))
    return np.ix_(*[np.array(x, dtype=np.intp) for x in axes]), result


def orthogonal(shape):
    words, notation, dots = [], [], False
    axis = 0
    while axis < len(shape):
        n = shape[axis]
        r = random.random()
        if r < 0.06:
            words.append("None")
            notation.append("None")
            continue
        if r < 0.12 and not dots:
            dots = True
            words.append("...")
            notation.append("...")
            axis += random.randint(0, 2)
            continue
        if r < 0.55:
            w = str(array(n, (random.choice([0, 1, 2, 3, 5]),)))
        elif r < 0.7:
            w = str(mask([n], random.choice([0.3, 0.6, 1])))
        elif r < 0.8:
            w = str(number(n))
        else:
            w = span(n)
            notation.append("s(" + ",".join(x or "None" for x in (w.split(":") + [""])[:3]) + ")")
            words.append(w)
            axis += 1
            continue
        words.append(w)
        notation.append(w)
        axis += 1
    return ", ".join(words), ", ".join(notation)


def one(a, count):
    r = random.random()
    if r < 0.06:
        sel = [number(a.size) for _ in range(random.choice([0, 1, 2, 5, 20]))]
        got = a.take(np.array(sel, dtype=np.intp))
        line = "f;" + ",".join(map(str, sel))
        write = lambda v: a.put(np.array(sel, dtype=np.intp), v)
        shape = got.shape
    elif r < 0.25:
        sel, notation = orthogonal(a.shape)
        line = "o;" + sel
        try:
            index, shape = listed(a, notation)
        except IndexError:
            return line + ";error;", count
        got = a[index].reshape(shape)

        def write(v):
            a[index] = v.reshape(a[index].shape)

    else:
        sel = joint(a.shape)
        line = "n;" + sel
        code = compile("a[%s] = v" % (sel or "()"), "", "exec")
        try:
            got = eval("a[%s]" % (sel or "()")).copy()
        except IndexError:
            return line + ";error;", count
        shape = got.shape
        write = lambda v: exec(code, {"a": a, "v": v})
    if got.size > 3000:
        return None, count
    sum = zlib.crc32(np.ascontiguousarray(got, dtype="<i8").tobytes())
    write(np.arange(count, count + got.size, dtype="<i8").reshape(shape))
    return line.replace(" ", "") + ";%s;%08x" % (",".join(map(str, shape)), zlib.crc32(a.tobytes(), sum)), count + got.size


lines, cases = [], 0
while cases < 22000:
    shape = [random.choice([1, 2, 2, 3, 3, 4, 5, 6, 7, 9, 13]) for _ in range(random.randint(0, 6))]
    if shape and random.random() < 0.04:
        shape[random.randrange(len(shape))] = 0
    if np.prod(shape) > 1200:
        continue
    a = np.arange(np.prod(shape, dtype=int), dtype="<i8").reshape(shape)
    lines.append(",".join(map(str, shape)))
    count = a.size
    for _ in range(8):
        try:
            line, count = one(a, count)
        except IndexError:
            continue  # a position out of range
        if line:
            lines.append(line)
            cases += 1
with open("lists.txt.gz", "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z:
    z.write(("\n".join(lines) + "\n").encode())
