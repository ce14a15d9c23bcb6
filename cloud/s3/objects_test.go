package s3_test

import (
	"strings"
	"testing"

	"gocloud.dev/blob"

	"github.com/goblosc/blosc2/cloud"
	"github.com/goblosc/blosc2/cloud/internal/cloudtest"
)

// TestObjects puts, gets, lists and removes objects, with the driver and without it.
func TestObjects(t *testing.T) {
	s := start(t)
	cloudtest.TestObjects(t, s.bucket(t))
	inner, err := blob.OpenBucket(t.Context(), strings.Replace(s.object(""), "bucket/", "bucket", 1))
	if err != nil {
		t.Fatal(err)
	}
	b := cloud.New(blob.PrefixedBucket(inner, "common/"), "s3://bucket/common", nil)
	defer b.Close()
	cloudtest.TestObjects(t, b)
}

// TestRegions fills an array by several writers, without and with faults.
func TestRegions(t *testing.T) {
	s := start(t)
	cloudtest.TestRegions(t, s.bucket(t))
	cloudtest.TestRegionsFaults(t, s.bucket(t), 3)
}
