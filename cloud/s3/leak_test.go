package s3_test

import (
	"context"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob/s3blob"

	"github.com/goblosc/blosc2/cloud"
	"github.com/goblosc/blosc2/cloud/s3"
)

// TestGoroutines checks that no goroutine and no connection is left, also after a canceled read and a failed write. The
// bucket has a client of the program.
func TestGoroutines(t *testing.T) {
	s := start(t)
	s.put(t, "a", noiseBytes(4<<20))
	time.Sleep(100 * time.Millisecond) // for the connections of put
	before := runtime.NumGoroutine()
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	client := awss3.New(awss3.Options{
		Region: "us-east-1", BaseEndpoint: &s.url, UsePathStyle: true, HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider("user", "secret", "")),
	})
	inner, err := s3blob.OpenBucket(t.Context(), client, "bucket", nil)
	if err != nil {
		t.Fatal(err)
	}
	b := cloud.New(inner, "s3://bucket", s3.Driver{})
	src, err := b.Open(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := src.ReadAt(make([]byte, 1<<20), 1<<20); err != nil {
		t.Fatal(err)
	}
	hang := make(chan struct{})
	s.faults(func(http.ResponseWriter, *http.Request) bool { <-hang; return false })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := src.ReadAtContext(ctx, make([]byte, 1<<20), 2<<20); err == nil {
		t.Error("no error")
	}
	if err := b.Create(ctx, "b", create(ctx, 14<<20), &cloud.WriteOptions{PartSize: 5 << 20}); err == nil {
		t.Error("no error")
	}
	if err := src.Close(); err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	s.faults(nil)
	close(hang)
	var now int
	for range 200 {
		transport.CloseIdleConnections()
		s.idle()
		if now = runtime.NumGoroutine(); now <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines, want %d\n%s", now, before, buf[:runtime.Stack(buf, true)])
}
