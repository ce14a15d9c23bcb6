package cpu

import "testing"

func TestLimit(t *testing.T) {
	was := level
	for l := Generic; l <= AVX512; l++ {
		restore := Limit(l)
		for m := Generic; m <= AVX512; m++ {
			if want := m <= l && m <= was; Has(m) != want {
				t.Errorf("limit %v: Has(%v) is %v", l, m, !want)
			}
		}
		restore()
		if level != was {
			t.Fatalf("level %v after restore, was %v", level, was)
		}
	}
}

func TestString(t *testing.T) {
	if Generic.String() != "generic" || Baseline.String() != baseline || AVX512.String() != "avx512" {
		t.Errorf("%v, %v, %v", Generic, Baseline, AVX512)
	}
}
