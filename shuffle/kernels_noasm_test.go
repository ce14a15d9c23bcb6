//go:build !amd64 || purego

package shuffle

var kernels = []kernel{{"generic", features{}, true}}
