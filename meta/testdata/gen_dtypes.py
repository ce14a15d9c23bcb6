"""Writes dtypes.tsv: dtypes that NumPy prints and reads, and what they mean. Usage: gen_dtypes.py COUNT SEED

Columns: text given to NumPy; text that python-blosc2 stores for it ("ERR" if NumPy refuses it); layout."""
import json, random, sys, warnings
from ast import literal_eval
import numpy as np

warnings.simplefilter("ignore")
COUNT, SEED = int(sys.argv[1]), int(sys.argv[2])
rnd = random.Random(SEED)

SIMPLE = ["?", "b1", "|b1", "i1", "u1", "<i2", ">i2", "i4", "=i4", ">i4", "|i4", "<u4", "<i8", ">u8", "f2", "<f4", ">f4",
          "f8", "c8", ">c16", "S1", "S5", "|S300", "U1", "<U3", ">U7", "V1", "V16", "|V3", "<M8[ns]", "M8[s]", ">M8[25us]",
          "m8[D]", "<m8[3W]", "<M8", "m8", "O", "int8", "uint16", "int32", "int64", "float16", "float32", "float64",
          "bool", "complex64", "complex128", "datetime64[ms]", "timedelta64[12h]", "S0", "U", "V", "f16", "c32", "d", "H"]
NAMES = ["a", "b", "x", "y", "value", "two words", "it's", 'say "hi"', "b\'\"c", "back\\slash", "tab\t", "line\n", "\r", "\x00",
         "\x7f", "caf\xe9", "\u4e2d\u6587", "\u200b", "\U0001f600", "\u2028", "\xa0", "f1", "f0", "(", "]", "{}", ","]


def simple():
    return rnd.choice(SIMPLE)


def shape():
    return tuple(rnd.choice([1, 2, 3, 3, 5]) for _ in range(rnd.choice([1, 1, 2, 3])))


def typ(depth, sub=True):
    r = rnd.random()
    if depth == 0 or r < 0.6:
        return simple()
    if r < 0.75:
        return listed(depth - 1)
    if r < 0.9:
        return dicted(depth - 1)
    if not sub:
        return simple()
    s, elem = shape(), typ(depth - 1)
    try:
        if np.dtype(elem).itemsize == 0:  # NumPy does odd things with these
            elem = "i4"
    except Exception:
        pass
    return (elem, rnd.choice([s, s, list(s), s[0]]))


def names(n):
    pool = rnd.sample(NAMES, min(n, len(NAMES)))
    if rnd.random() < 0.05 and n > 1:
        pool[-1] = pool[0]
    return pool


def listed(depth):
    out = []
    for name in names(rnd.choice([0, 1, 1, 2, 2, 3, 4])):
        if rnd.random() < 0.05:
            name = ""
        if rnd.random() < 0.1:
            name = (rnd.choice(["Title", "t", "a", "it's"]), name)
        f = [name, typ(depth)]
        if rnd.random() < 0.2:
            s = shape()
            f.append(rnd.choice([s, s, s[0], ()]))
        out.append(tuple(f))
    return out


def dicted(depth):
    ns = names(rnd.choice([0, 1, 2, 2, 3, 4]))
    fs = [typ(depth) for _ in ns]
    d = {"names": ns, "formats": fs}
    if rnd.random() < 0.6:
        d["offsets"], at = [], 0
        for f in fs:
            try:
                size = np.dtype(f).itemsize
            except Exception:
                size = 1
            at += rnd.choice([0, 0, 0, 1, 4, 8])
            at = at + -at % rnd.choice([1, 8, 16])
            d["offsets"].append(at if rnd.random() < 0.9 else rnd.choice([0, 8, 64]))
            at += size
    if rnd.random() < 0.2:
        d["titles"] = [rnd.choice([None, None, "T%d" % i, "say"]) for i in range(len(ns))]
    if rnd.random() < 0.4:
        d["itemsize"] = rnd.choice([0, 8, 16, 64, 100, 128, 1000])
    if rnd.random() < 0.4:
        d["aligned"] = rnd.choice([True, True, False])
    return d


def layout(d):
    if d.subdtype:
        return "[%s]%s" % (",".join(map(str, d.shape)), layout(d.base))
    if d.fields is None:
        return d.str
    parts = []
    for n in d.names:
        f = d.fields[n]
        title = json.dumps(f[2]) if len(f) > 2 else ""
        parts.append("%s%s@%d=%s" % (json.dumps(n), title, f[1], layout(f[0])))
    return "{%s}%d" % (" ".join(parts), d.itemsize)


def stored(d):
    return str(d) if d.kind == "V" else d.str


seen, kept = set(), 0
skipped = 0
with open("dtypes.tsv", "w", encoding="utf-8", newline="\n") as out:
    print("# NumPy %s, gen_dtypes.py %d %d" % (np.__version__, COUNT, SEED), file=out)
    while kept < COUNT:
        x = simple() if rnd.random() < 0.05 else typ(rnd.choice([1, 2, 3, 4]))
        text = x if isinstance(x, str) else repr(x)
        if text in seen:
            continue
        seen.add(text)
        try:
            d = np.dtype(x)
        except Exception as e:
            if "overlapping object" in str(e):  # the Go side does not mind
                continue
            print(json.dumps(text), json.dumps("ERR"), json.dumps(""), sep="\t", file=out)
            kept += 1
            continue
        s = stored(d)
        try:  # NumPy's own text must stand for the same dtype
            same = layout(np.dtype(literal_eval(s) if s[0] in "[({" else s)) == layout(d)
        except Exception:
            same = False
        if not same or "''" in s:
            skipped += 1
            s = "LOSSY"
        print(json.dumps(text), json.dumps(s), json.dumps(layout(d)), sep="\t", file=out)
        kept += 1
print("lossy", skipped, "of", kept, file=sys.stderr)
