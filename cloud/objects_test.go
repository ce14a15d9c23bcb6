package cloud

import (
	"testing"

	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/goblosc/blosc2/cloud/internal/cloudtest"
)

// TestObjects puts, gets, lists and removes objects.
func TestObjects(t *testing.T) {
	buckets(t, func(t *testing.T, b *Bucket) { cloudtest.TestObjects(t, b) })
}

// TestRegions fills an array by several writers, without and with faults.
func TestRegions(t *testing.T) {
	do := func(t *testing.T, b *Bucket, seeds uint64) {
		cloudtest.TestRegions(t, b)
		cloudtest.TestRegionsFaults(t, b, seeds)
	}
	t.Run("file", func(t *testing.T) {
		// Otherwise fileblob writes a second file for each object, in several steps.
		inner, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{Metadata: fileblob.MetadataDontWrite})
		if err != nil {
			t.Fatal(err)
		}
		b := New(inner, "file:///bucket", nil)
		defer b.Close()
		do(t, b, 10)
	})
	t.Run("mem", func(t *testing.T) {
		b := New(memblob.OpenBucket(nil), "mem://bucket", nil)
		defer b.Close()
		do(t, b, 60)
	})
}
