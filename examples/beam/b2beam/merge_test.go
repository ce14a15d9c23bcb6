package b2beam

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// reduceTiles runs Reduce without a runner. arrange changes the order in which the results of a group arrive.
func reduceTiles(t *testing.T, r reducer, keys []Key, tiles []Tile, arrange func([]part)) (out []Tile, err error) {
	t.Helper()
	ctx := context.Background()
	groups := map[string][]part{}
	add := func(k Key, p part) { groups[string(encodeKey(k))] = append(groups[string(encodeKey(k))], p) }
	for i, k := range keys {
		if err := (&reduceFn{r}).ProcessElement(ctx, k, tiles[i], add); err != nil {
			return nil, err
		}
	}
	each := func(do func(k Key, parts []part) error) error {
		now := groups
		groups = map[string][]part{}
		for key, parts := range now {
			k, err := decodeKey([]byte(key))
			if err != nil {
				return err
			}
			if err := do(k, parts); err != nil {
				return err
			}
		}
		return nil
	}
	for level := range mergeLevels {
		err := each(func(k Key, parts []part) error {
			arrange(parts)
			return (&mergeFn{r, level + 1}).ProcessElement(ctx, k, iterate(parts), add)
		})
		if err != nil {
			return nil, err
		}
	}
	return out, each(func(k Key, parts []part) error {
		for _, p := range parts {
			if err := (&resultFn{r}).ProcessElement(ctx, k, p, func(_ Key, t Tile) { out = append(out, t) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// iterate returns an iterator as Beam passes it.
func iterate(parts []part) func(*part) bool {
	return func(p *part) bool {
		if len(parts) == 0 {
			return false
		}
		*p, parts = parts[0], parts[1:]
		return true
	}
}

// TestReduceArrival checks that results do not depend on the order in which tiles arrive, and that groups are small.
func TestReduceArrival(t *testing.T) {
	var keys []Key
	var tiles []Tile
	for i := range int64(200) {
		keys = append(keys, Key{"x", []int64{5 * i, 0}})
		items := make([]float64, 2*5)
		for k := range items {
			items[k] = math.Sin(float64(i)*1e3+float64(k)) * math.Exp(float64(i%40))
		}
		tiles = append(tiles, Tile{Of: []int64{998, 2}, Shape: []int64{min(5, 998-5*i), 2}, DType: "<f8"})
		tiles[i].Data = encodeRows([][]float64{items[:2*tiles[i].Shape[0]]})
	}
	most := 0
	orders := []func([]part){
		func(p []part) { most = max(most, len(p)) },
		slices.Reverse[[]part],
		func(p []part) { slices.Reverse(p[len(p)/2:]) },
		func(p []part) { slices.Reverse(p[:len(p)/2]) },
	}
	for _, op := range []ndarray.Op{ndarray.OpSum, ndarray.OpProd, ndarray.OpMean, ndarray.OpVar} {
		var want []byte
		for i, order := range orders {
			got, err := reduceTiles(t, reducer{op, ndarray.ReduceOptions{Axes: []int{0}}}, keys, tiles, order)
			if err != nil || len(got) != 1 {
				t.Fatalf("%v: %d results, %v", op, len(got), err)
			}
			if i == 0 {
				want = got[0].Data
			} else if !bytes.Equal(got[0].Data, want) {
				t.Errorf("%v: another result in order %d", op, i)
			}
		}
	}
	if most > 7 { // 6*6*6 > 200
		t.Errorf("%d results in a group", most)
	}
}

// TestMergeEmpty checks variances of huge numbers next to tiles that have only NaNs, which are skipped.
func TestMergeEmpty(t *testing.T) {
	r := reducer{ndarray.OpVar, ndarray.ReduceOptions{SkipNaN: true}}
	var keys []Key
	var tiles []Tile
	for i, x := range []float64{math.NaN(), 1e200} {
		keys = append(keys, Key{"x", []int64{2 * int64(i)}})
		tiles = append(tiles, Tile{Of: []int64{4}, Shape: []int64{2}, DType: "<f8", Data: encodeRows([][]float64{{x, x}})})
	}
	got, err := reduceTiles(t, r, keys, tiles, func([]part) {})
	if want := encodeRows([][]float64{{0}}); err != nil || len(got) != 1 || !bytes.Equal(got[0].Data, want) {
		t.Errorf("variance %v, %v, want 0", got, err)
	}
}
