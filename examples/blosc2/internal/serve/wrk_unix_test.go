//go:build unix

package serve

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// answered returns the number of requests of a kind that were answered with a status.
func (m *metrics) answered(kind string, code int) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[requestKey{kind, code}]
}

// interrupt interrupts wrk and waits for its end. wrk forgets a signal that comes before it sleeps.
func interrupt(cmd *exec.Cmd) error {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for range 300 {
		select {
		case err := <-done:
			return err
		case <-time.After(200 * time.Millisecond):
			cmd.Process.Signal(os.Interrupt)
		}
	}
	cmd.Process.Kill()
	return errors.Join(errors.New("it does not end"), <-done)
}

// runWRK lets 64 clients of wrk read at least b.N random squares of n x n items of a.b2nd in dir, an array of
// side x side items. It reports the CPU time of the server alone, and the latency.
func runWRK(b *testing.B, dir string, c Config, side, n int64) {
	wrk, err := exec.LookPath("wrk")
	if err != nil {
		b.Fatal("wrk, which this benchmark runs, is not installed")
	}
	s := newServer(b, dir, c)
	addr, _ := start(b, s)
	cmd := exec.Command(wrk, "-t", "2", "-c", "64", "-d", "600", "--timeout", "60", "-s", "testdata/slices.lua", "http://"+addr, "--", "/a.b2nd", fmt.Sprint(side), fmt.Sprint(n))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	b.ResetTimer()
	before := cpuTime()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Minute); s.metrics.answered(kindSlice, 200) < int64(b.N) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	used, answers := cpuTime()-before, s.metrics.answered(kindSlice, 200)
	b.StopTimer()
	if err := interrupt(cmd); err != nil { // it prints what it has counted
		b.Errorf("wrk: %v: %s", err, out.Bytes())
	}
	found := regexp.MustCompile(`failed (\d+), socket errors (\d+), answers (\d+), median (\d+) us, 99% (\d+) us`).FindSubmatch(out.Bytes())
	if found == nil {
		b.Fatalf("wrk printed %s", out.Bytes())
	}
	var count [5]int
	for i := range count {
		count[i], _ = strconv.Atoi(string(found[i+1]))
	}
	// wrk does not count the answers that were under way to its 64 clients.
	if count[0] != 0 || count[1] != 0 || count[2] < b.N-64 || answers < int64(b.N) {
		b.Errorf("%d answers of %d: %s", answers, b.N, found[0])
	}
	b.ReportMetric(float64(used.Microseconds())/float64(answers), "cpu-us/op")
	b.ReportMetric(float64(count[3])/1000, "median-ms")
	b.ReportMetric(float64(count[4])/1000, "p99-ms")
}
