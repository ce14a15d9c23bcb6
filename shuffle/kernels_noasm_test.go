//go:build (!amd64 && !arm64) || purego

package shuffle

var kernels = []kernel{{"generic", features{}, true}}
