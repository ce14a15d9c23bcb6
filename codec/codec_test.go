package codec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec"
)

func TestIDs(t *testing.T) {
	tests := []struct {
		id     codec.ID
		code   uint8
		format codec.Format
		name   string
	}{
		{codec.Default, 5, codec.FormatZstd, "default"},
		{codec.BloscLZ, 0, codec.FormatBloscLZ, "blosclz"},
		{codec.LZ4, 1, codec.FormatLZ4, "lz4"},
		{codec.LZ4HC, 2, codec.FormatLZ4, "lz4hc"},
		{codec.Snappy, 3, codec.FormatSnappy, "snappy"},
		{codec.Zlib, 4, codec.FormatZlib, "zlib"},
		{codec.Zstd, 5, codec.FormatZstd, "zstd"},
		{codec.NDLZ, 32, codec.FormatUser, "ndlz"},
		{codec.ZFPRate, 35, codec.FormatUser, "zfp_rate"},
		{codec.FromCode(200), 200, codec.FormatUser, "codec 200"},
	}
	for _, test := range tests {
		if got := test.id.Code(); got != test.code {
			t.Errorf("%v: Code() = %d, want %d", test.id, got, test.code)
		}
		if got := test.id.Format(); got != test.format {
			t.Errorf("%v: Format() = %d, want %d", test.id, got, test.format)
		}
		if got := test.id.String(); got != test.name {
			t.Errorf("String() = %q, want %q", got, test.name)
		}
		if test.id != codec.Default && codec.FromCode(test.code) != test.id {
			t.Errorf("FromCode(%d) = %v, want %v", test.code, codec.FromCode(test.code), test.id)
		}
	}
}

func TestSet(t *testing.T) {
	var set codec.Set
	for _, id := range ids {
		c, err := set.ByID(id)
		if err != nil || c.ID() != id {
			t.Errorf("ByID(%v): %v, %v", id, c, err)
		}
	}
	if c, err := set.ByID(codec.Default); err != nil || c.ID() != codec.Zstd {
		t.Errorf("ByID(Default): %v, %v, want zstd", c, err)
	}
	for f, id := range map[codec.Format]codec.ID{
		codec.FormatBloscLZ: codec.BloscLZ, codec.FormatLZ4: codec.LZ4, codec.FormatZlib: codec.Zlib, codec.FormatZstd: codec.Zstd,
	} {
		if c, err := set.ByFormat(f, 99); err != nil || c.ID() != id {
			t.Errorf("ByFormat(%d): %v, %v, want %v", f, c, err, id)
		}
	}
	for _, f := range []codec.Format{5, codec.FormatUser, 7, 8} {
		if _, err := set.ByFormat(f, 5); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("ByFormat(%d): %v, want errors.ErrUnsupported", f, err)
		}
	}
	if _, err := set.ByID(codec.FromCode(36)); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "openhtj2k") {
		t.Errorf("ByID(36): %v, want errors.ErrUnsupported with the name", err)
	}
}

// userCodec is a user codec.
type userCodec struct {
	codec.Codec
	id codec.ID
}

func (c userCodec) ID() codec.ID { return c.id }

func TestParse(t *testing.T) {
	for code := range 256 {
		for _, id := range []codec.ID{codec.Default, codec.FromCode(uint8(code))} {
			got, err := codec.Parse(id.String())
			if known := !strings.HasPrefix(id.String(), "codec "); known && (err != nil || got != id) || !known && !errors.Is(err, codec.ErrParam) {
				t.Errorf("Parse(%q) = %v, %v", id, got, err)
			}
		}
	}
	for _, name := range []string{"", "ZSTD", "zstd ", "none"} {
		if id, err := codec.Parse(name); !errors.Is(err, codec.ErrParam) {
			t.Errorf("Parse(%q) = %v, %v, want ErrParam", name, id, err)
		}
	}
}

func TestNewSet(t *testing.T) {
	var none codec.Set
	first, ndlz := userCodec{id: codec.FromCode(200)}, userCodec{id: codec.NDLZ}
	set, err := codec.NewSet([]codec.Codec{&first, &ndlz})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := set.ByFormat(codec.FormatUser, 200); err != nil || c != &first {
		t.Errorf("%v, %v, want the user codec", c, err)
	}
	if c, err := set.ByID(codec.NDLZ); err != nil || c != &ndlz {
		t.Errorf("%v, %v, want the user codec in place of ndlz", c, err)
	}
	if _, err := none.ByFormat(codec.FormatUser, 200); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("zero set: %v, want errors.ErrUnsupported", err)
	}
}

func TestNewEncoderRefuses(t *testing.T) {
	for _, id := range ids {
		for _, p := range []codec.Params{{Level: -1}, {}, {Level: 10}} {
			if e, err := lookup(t, id).NewEncoder(p); !errors.Is(err, errors.ErrUnsupported) || e != nil {
				t.Errorf("%v: level %d, dictionary of %d bytes: %v, want errors.ErrUnsupported", id, p.Level, len(p.Dict), err)
			}
		}
	}
}
