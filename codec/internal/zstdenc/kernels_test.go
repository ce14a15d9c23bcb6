package zstdenc

import (
	"bytes"
	"testing"
)

// generic runs f without the kernels in assembly.
func generic(f func()) {
	saved := kernels
	defer func() { kernels = saved }()
	kernels = false
	f()
}

// compareKernels compresses src with e, with the kernels, and with plain, without, and compares the frames. It returns
// the frame, in dst.
func compareKernels(t testing.TB, e, plain *Encoder, dst, src []byte) []byte {
	t.Helper()
	n := e.Encode(dst, src)
	want := make([]byte, len(dst))
	generic(func() { want = want[:plain.Encode(want, src)] })
	if !bytes.Equal(dst[:n], want) {
		t.Fatalf("level %d, %d bytes: %d with kernels, %d without, or others", e.level, len(src), n, len(want))
	}
	return dst[:n]
}
