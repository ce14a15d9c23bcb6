"""Writes records.txt.gz: NumPy's items of text and structures. A line is a list in JSON, one of

  ["text", dtype, items in hexadecimal, [strings]]      items and the strings that NumPy reads from them
  ["flat", dtype, items in hexadecimal, [values]]       records without nesting, in the form of flat()
  ["deep", dtype, items in hexadecimal, [values]]       nested records, in the form of deep()
"""
import gzip, json, random
import numpy as np

random.seed(20240716)
lines = []


def stored(dtype):
    """The dtype as python-blosc2 stores it."""
    return str(dtype) if dtype.fields else dtype.str


def text():
    words = ["", "a", "abc", "abcde", "a b", " x ", "a\0b", "\0a", "tab\t", "\x7f"]
    lines.append(["text", "|S5", np.array([w.encode() for w in words], "S5").tobytes().hex(), list(words)])
    words += ["é", "日本語", "\U0001f600!", "\ud7ff", "\ue000", "\U0010ffff", "é\0é", "\x80ÿ"]
    for dtype in ["<U5", ">U5", "<U300"]:
        a = np.array(words, dtype)
        assert list(a) == words
        lines.append(["text", dtype, a.tobytes().hex(), words])
    lines.append(["text", "<U1", np.array(["x", "\ud800"[:1]], "<U1").tobytes().hex(), None])
    lines.append(["text", "<U1", "ffffffff78000000", None])
    lines.append(["text", ">U1", "00110000" + "00000078", None])


def flat(r):
    return [int(r["a"]), int(r["b"] * 8), r["s"].decode(), str(r["u"]), int(r["t"].astype("i8")), int(r["d"].astype("i8")),
            int(float(r["h"]) * 8), int(r["z"].real), int(r["z"].imag), bool(r["q"])]


FIELDS = [("a", "i4"), ("b", "f8"), ("s", "S5"), ("u", "U3"), ("t", "M8[s]"), ("d", "m8[ms]"), ("h", "f2"), ("z", "c8"), ("q", "?")]


def random_text(n):
    return "".join(random.choice("abcxyz é日") for _ in range(random.randint(0, n)))


def fill_flat(a):
    for r in a:
        r["a"], r["b"] = random.randint(-2**31, 2**31 - 1), random.randint(-10**9, 10**9) / 8
        r["s"] = random_text(5).encode("ascii", "ignore").rstrip()
        r["u"] = random_text(3)
        r["t"] = np.datetime64(random.randint(-10**11, 10**11), "s")
        r["d"] = np.timedelta64(random.randint(-10**9, 10**9), "ms")
        r["h"], r["z"], r["q"] = random.randint(-99, 99) / 8, random.randint(-99, 99) + 1j * random.randint(-99, 99), random.random() < 0.5


def records():
    for order in "<>":
        plain = [(n, t if t in ("?", "S5") else order + t) for n, t in FIELDS]
        shuffled = random.sample(plain, len(plain))
        names, formats = [n for n, _ in shuffled], [t for _, t in shuffled]
        offsets, at = [], 3
        for f in formats:
            offsets.append(at)
            at += np.dtype(f).itemsize + random.randint(0, 5)
        for dtype in [
            np.dtype(plain), np.dtype(shuffled), np.dtype(plain, align=True), np.dtype(shuffled, align=True),
            np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": at + 7}),
            np.dtype({"names": names[::-1], "formats": formats[::-1], "offsets": offsets[::-1]}),
            np.dtype([((n, "field " + n), t) for n, t in plain]),  # the names are titles
            np.dtype(plain + [("other", "V9"), ("more", [("a", "i4")])]),
        ]:
            a = np.zeros(5, dtype)
            fill_flat(a)
            lines.append(["flat", stored(dtype), a.tobytes().hex(), [flat(r) for r in a]])


def deep(r):
    return [int(r["p"]["x"]), int(r["p"]["y"]), r["m"].ravel().tolist(), [int(x) for x in r["n"]["k"]],
            [str(x) for x in r["n"]["w"].ravel()], r["raw"].tobytes().hex(), r["c"].ravel().view("f4").astype(int).tolist() if r["c"].dtype.isnative
            else r["c"].ravel().astype("c8").view("f4").astype(int).tolist(), [int(x) for x in r["h"]]]


def nested():
    for o in "<>":
        point = [("x", o + "f4"), ("y", "<f4")]
        inner = [("k", "u1"), ("w", o + "U2", (2,))]
        fields = [("p", point), ("m", o + "i2", (2, 3)), ("n", inner, (2,)), ("raw", "V3"), ("c", o + "c8", (2,)), ("h", o + "f2", (3,))]
        for dtype in [np.dtype(fields), np.dtype(fields, align=True), np.dtype(fields[::-1])]:
            a = np.zeros(20, dtype)
            for r in a:
                r["p"]["x"], r["p"]["y"] = random.randint(-99, 99), random.randint(-99, 99)
                r["m"] = np.random.RandomState(random.randint(0, 10**6)).randint(-9999, 9999, (2, 3))
                for n in r["n"]:
                    n["k"] = random.randint(0, 255)
                    n["w"] = [random_text(2).rstrip(), random_text(2)]
                r["raw"] = bytes(random.randint(0, 255) for _ in range(3))
                r["c"] = [random.randint(-9, 9) + 1j * random.randint(-9, 9) for _ in range(2)]
                r["h"] = [random.randint(-99, 99) for _ in range(3)]
            lines.append(["deep", stored(dtype), a.tobytes().hex(), [deep(r) for r in a]])


text()
records()
nested()
with gzip.GzipFile("records.txt.gz", "wb", mtime=0) as f:
    f.write(("\n".join(json.dumps(x) for x in lines) + "\n").encode())
print(len(lines))
