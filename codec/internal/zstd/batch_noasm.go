//go:build !(amd64 && !purego)

package zstd

// BatchIsFaster reports whether DecodeBatch takes less time than one frame after the other.
func BatchIsFaster() bool { return false }

// runBoth does nothing: decoding one after the other is as fast.
func (s *streams4) runBoth(o *streams4) {}
