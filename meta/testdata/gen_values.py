"""Writes values.tsv: values and what Python's msgpack makes of them. Usage: gen_values.py COUNT SEED

Columns: the value as typed JSON; the bytes. Tuples are marked as python-blosc2 does."""
import json, random, struct, sys
import msgpack

COUNT, SEED = int(sys.argv[1]), int(sys.argv[2])
rnd = random.Random(SEED)
EDGES = [0, 1, 31, 32, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
EDGES += [-n for n in EDGES if n <= 2**63] + [-33, -129, -32769, -(2**31) - 1]


def value(depth):
    r = rnd.randrange(12 if depth else 8)
    if r == 0:
        return rnd.choice([None, True, False])
    if r < 3:
        return rnd.choice(EDGES)
    if r == 3:
        return rnd.choice([0.0, -0.0, 1.5, 2.0, 1e300, float("inf"), float("-inf"), rnd.random(), 0.1])
    if r < 6:
        return "".join(rnd.choice("ab \n\"'\x00\xe9\u4e2d\U0001f600") for _ in range(rnd.choice([0, 1, 5, 20, 31, 32, 90])))
    if r == 6:
        return bytes(rnd.randrange(256) for _ in range(rnd.choice([0, 1, 5, 255, 256])))
    if r == 7:
        return msgpack.ExtType(rnd.choice([42, 43, 0, 127]), bytes(rnd.choice([0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 255, 256])))
    n = rnd.choice([0, 1, 2, 3, 15, 16])
    if r < 10:
        items = [value(depth - 1) for _ in range(n)]
        return tuple(items) if rnd.random() < 0.4 else items
    keys = [rnd.choice(["k%d" % i, "k%d" % i, i * 100, -i]) if rnd.random() < 0.3 else "key %d" % i for i in range(n)]
    rnd.shuffle(keys)
    return {k: value(depth - 1) for k in keys}


def marked(v):
    if isinstance(v, msgpack.ExtType):
        return v
    if isinstance(v, tuple):
        return ["__tuple__"] + [marked(x) for x in v]
    if isinstance(v, list):
        return [marked(x) for x in v]
    if isinstance(v, dict):
        return {k: marked(x) for k, x in v.items()}
    return v


def typed(v):
    if v is None:
        return ["nil"]
    if isinstance(v, bool):
        return ["bool", v]
    if isinstance(v, int):
        return ["int", str(v)]
    if isinstance(v, float):
        return ["float", struct.pack(">d", v).hex()]
    if isinstance(v, str):
        return ["str", v]
    if isinstance(v, bytes):
        return ["bin", v.hex()]
    if isinstance(v, msgpack.ExtType):
        return ["ext", v.code, v.data.hex()]
    if isinstance(v, dict):
        return ["map", [[typed(k), typed(x)] for k, x in v.items()]]
    return ["tuple" if isinstance(v, tuple) else "list", [typed(x) for x in v]]


with open("values.tsv", "w", encoding="utf-8", newline="\n") as out:
    print("# msgpack %d.%d.%d, gen_values.py %d %d" % (*msgpack.version, COUNT, SEED), file=out)
    kept = 0
    for v in EDGES + [value(rnd.choice([0, 1, 2, 3])) for _ in range(COUNT)]:
        b = msgpack.packb(marked(v), use_bin_type=True)
        if len(b) <= 600:
            print(json.dumps(typed(v)), b.hex(), sep="\t", file=out)
