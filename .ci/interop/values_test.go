package interop

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"

	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// scalarKinds make small values of every kind and width of MessagePack.
var scalarKinds = []func(rng *rand.Rand) any{
	func(*rand.Rand) any { return nil },
	func(*rand.Rand) any { return false },
	func(*rand.Rand) any { return true },
	func(rng *rand.Rand) any { return rng.IntN(128) },
	func(rng *rand.Rand) any { return -1 - rng.IntN(32) },
	func(rng *rand.Rand) any { return uint8(128 + rng.IntN(128)) },
	func(rng *rand.Rand) any { return uint16(256 + rng.IntN(60_000)) },
	func(rng *rand.Rand) any { return rng.Uint32() | 1<<31 },
	func(rng *rand.Rand) any { return rng.Uint64() | 1<<63 },
	func(rng *rand.Rand) any { return int8(-33 - rng.IntN(90)) },
	func(rng *rand.Rand) any { return int16(-129 - rng.IntN(30_000)) },
	func(rng *rand.Rand) any { return math.MinInt32 + rng.Int32N(1<<30) },
	func(rng *rand.Rand) any { return math.MinInt64 + rng.Int64N(1<<62) },
	func(rng *rand.Rand) any { return rng.NormFloat64() },
	func(*rand.Rand) any { return math.Inf(-1) },
	func(rng *rand.Rand) any { return rng.Float32() },
	func(rng *rand.Rand) any { return strings.Repeat("ü", rng.IntN(16)) },
	func(rng *rand.Rand) any { return strings.Repeat("a", 32+rng.IntN(200)) },
}

// valueKinds make values of every kind and width.
var valueKinds = slices.Concat(scalarKinds, []func(rng *rand.Rand) any{
	func(rng *rand.Rand) any { return strings.Repeat("text ", 100+rng.IntN(1000)) },
	func(*rand.Rand) any { return strings.Repeat("long", 20_000) },
	func(rng *rand.Rand) any { return noise(rng, rng.IntN(256)) },
	func(rng *rand.Rand) any { return noise(rng, 256+rng.IntN(1000)) },
	func(*rand.Rand) any { return bytes.Repeat([]byte{1, 2, 3}, 30_000) },
	func(rng *rand.Rand) any { return list(rng, rng.IntN(16)) },
	func(rng *rand.Rand) any { return list(rng, 16+rng.IntN(30)) },
	func(*rand.Rand) any { return make([]any, 70_000) },
	func(rng *rand.Rand) any { return dict(rng, rng.IntN(16)) },
	func(rng *rand.Rand) any { return dict(rng, 16+rng.IntN(30)) },
	func(rng *rand.Rand) any { return dict(rng, 66_000) },
	func(rng *rand.Rand) any { return meta.Tuple(list(rng, rng.IntN(5))) },
	func(rng *rand.Rand) any { return meta.Ext{Type: 42, Data: noise(rng, 1)} },
	func(rng *rand.Rand) any { return meta.Ext{Type: 0, Data: noise(rng, 2)} },
	func(rng *rand.Rand) any { return meta.Ext{Type: 127, Data: noise(rng, 4)} },
	func(rng *rand.Rand) any { return meta.Ext{Type: -128, Data: noise(rng, 8)} },
	func(rng *rand.Rand) any { return meta.Ext{Type: 43, Data: noise(rng, 16)} },
	func(rng *rand.Rand) any { return meta.Ext{Type: -7, Data: noise(rng, 17+rng.IntN(100))} },
	func(rng *rand.Rand) any { return meta.Ext{Type: 1, Data: noise(rng, 256+rng.IntN(100))} },
	func(rng *rand.Rand) any { return meta.Ext{Type: 2, Data: make([]byte, 70_000)} },
	func(rng *rand.Rand) any {
		return meta.Map{{Key: 1, Value: meta.Tuple{1, "two"}}, {Key: "k", Value: map[string]any{"a": list(rng, 3)}}}
	},
})

func noise(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	random(rng, b)
	return b
}

// list returns n small values.
func list(rng *rand.Rand, n int) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = scalarKinds[rng.IntN(len(scalarKinds))](rng)
	}
	return all
}

func dict(rng *rand.Rand, n int) map[string]any {
	all := make(map[string]any, n)
	for i := range n {
		all[fmt.Sprint("key", i)] = i
	}
	return all
}

// layer returns a metalayer with a value of a kind, and a name of 1 to 31 bytes that starts with the number i.
func layer(rng *rand.Rand, i, kind int) (meta.Layer, error) {
	name := fmt.Sprint(i)
	name += strings.Repeat("n", rng.IntN(32-len(name)))
	content, err := meta.Marshal(valueKinds[kind%len(valueKinds)](rng))
	return meta.Layer{Name: name, Content: content}, err
}

// layers returns n metalayers of consecutive kinds, starting at first.
func layers(rng *rand.Rand, first, n int) ([]meta.Layer, error) {
	var all []meta.Layer
	for i := range n {
		l, err := layer(rng, i, first+i)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// TestMetalayers writes as many metalayers of both kinds as the format allows, with values of every kind. Each library
// reads the metalayers of the other.
func TestMetalayers(t *testing.T) {
	const most, mostVL = 15, 16 // and "b2nd"
	rng := rand.New(rand.NewPCG(*seed, 0))
	seen, n := map[byte]bool{}, 0
	for kind := 0; kind < len(valueKinds); kind += most {
		fixed, err := layers(rng, kind, most)
		if err != nil {
			t.Fatal(err)
		}
		vl, err := layers(rng, kind, mostVL)
		if err != nil {
			t.Fatal(err)
		}
		for _, store := range stores {
			c := &arrayCase{store: store, kind: "ramp", shape: []int64{7, 3}, chunks: []int32{3, 3}, blocks: []int32{2, 1}, meta: fixed}
			c.ours.TypeSize = 2
			if err := c.metalayers(rng, t.TempDir(), vl); err != nil {
				t.Errorf("%s, kinds from %d up: %v", store, kind, err)
			}
			n += most + mostVL
		}
		for _, l := range append(fixed, vl...) {
			seen[l.Content[0]] = true
			checkValue(t, l.Content)
		}
	}
	for marker := 0xc0; marker <= 0xdf; marker++ {
		if !seen[byte(marker)] && marker != 0xc1 && marker != 0xca {
			t.Errorf("no value starts with the byte %#x", marker)
		}
	}
	t.Logf("%d metalayers went both ways", 2*n)
}

// checkValue decodes a value and encodes it again.
func checkValue(t *testing.T, content []byte) {
	t.Helper()
	var v any
	if err := meta.Unmarshal(content, &v); err != nil {
		t.Errorf("value %.20x: %v", content, err)
		return
	}
	again, err := meta.Marshal(v)
	if err != nil || !bytes.Equal(again, content) {
		t.Errorf("value %.20x of %d bytes is encoded as %.20x of %d, %v", content, len(content), again, len(again), err)
	}
}

// metalayers writes an array with metalayers with each library, and reads it with the other.
func (c *arrayCase) metalayers(rng *rand.Rand, dir string, vl []meta.Layer) error {
	items := content(rng, c.kind, c.nbytes(), c.ours.TypeSize)
	a, err := ndarray.CreateBytes(ctx, c.path(dir, "ours"), c.shape, c.dtype(), items, c.options(rng))
	if err != nil {
		return err
	}
	defer a.Close()
	for _, l := range vl {
		if err := inBatch(a.Frame(), func(b *frame.Batch) error { return b.SetVLMeta(l.Name, l.Content) }); err != nil {
			return err
		}
	}
	if err := c.theyRead(rng, a, items); err != nil {
		return err
	}
	r, err := ref.ArrayOf(c.reference(c.path(dir, "theirs")), items)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, l := range vl {
		if err := r.SChunk().SetVLMeta(l.Name, l.Content); err != nil {
			return err
		}
	}
	return c.weRead(rng, r, items)
}

// TestVLMetaLimit writes one more variable-length metalayer than the reference can.
func TestVLMetaLimit(t *testing.T) {
	ours, err := ndarray.Zeros(ctx, "", []int64{1}, "<i4", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	c := &arrayCase{shape: []int64{1}, chunks: []int32{1}, blocks: []int32{1}}
	c.ours.TypeSize = 4
	theirs, err := ref.ArrayOf(c.reference(filepath.Join(t.TempDir(), "theirs")), make([]byte, 4))
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	for i := range 17 {
		name := fmt.Sprint("n", i)
		errOurs := inBatch(ours.Frame(), func(b *frame.Batch) error { return b.SetVLMeta(name, []byte{1}) })
		errTheirs := theirs.SChunk().SetVLMeta(name, []byte{1})
		if (errOurs == nil) != (i < 16) || (errTheirs == nil) != (i < 16) {
			t.Errorf("metalayer %d: %v, the reference %v", i, errOurs, errTheirs)
		}
	}
}
