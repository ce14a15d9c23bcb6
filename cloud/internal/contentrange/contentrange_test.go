package contentrange

import "testing"

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		got          string
		off, n, size int64
		ok           bool
	}{
		{"bytes 0-9/100", 0, 10, 100, true},
		{"bytes 90-99/100", 90, 20, 100, true}, // up to the end
		{"bytes 90-99/100", -1, 10, 100, true},
		{"bytes 0-99/100", -1, 200, 100, true},
		{"bytes 0-0/100", 0, 0, 100, true},
		{"", 0, 10, 100, true},
		{"", -1, 200, 100, true},
		{"", -1, 10, 100, false},
		{"", 5, 10, 100, false},
		{"bytes 1-10/100", 0, 10, 100, false},
		{"bytes 0-9/100", -1, 10, 100, false},
		{"bytes 0-9/101", 0, 10, 100, false},
	} {
		if err := Check(c.got, c.off, c.n, c.size); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
