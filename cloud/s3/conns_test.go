package s3_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/cloud/s3"
	"github.com/goblosc/blosc2/frame/remote"
)

// TestConnections reads ranges in several rounds. A round must use the connections of the previous one.
func TestConnections(t *testing.T) {
	for _, requests := range []int{16, 150} {
		t.Run(fmt.Sprint(requests), func(t *testing.T) { testConnections(t, requests) })
	}
}

func testConnections(t *testing.T, requests int) {
	data := make([]byte, 8<<20)
	var conns atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(50 * time.Millisecond) // so that all requests of a round are in flight
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Unix(1, 0), bytes.NewReader(data))
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	setenv(t)
	url := "s3://bucket/a?region=us-east-1&use_path_style=true&disable_https=true&endpoint=" + server.URL
	obj, err := s3.Open(t.Context(), url, &remote.Options{Gap: -1, Requests: requests})
	if err != nil {
		t.Fatal(err)
	}
	defer obj.Close()
	for range 5 {
		var want []remote.Range
		for i := range requests {
			want = append(want, remote.Range{Off: int64(i)*50_000 + 100_000, Len: 1000})
		}
		if err := obj.ReadRanges(t.Context(), want, func(int, int64, []byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n := conns.Load(); n > int64(requests)+4 {
		t.Errorf("%d connections for rounds of %d requests", n, requests)
	}
}
