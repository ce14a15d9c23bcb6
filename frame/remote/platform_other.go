//go:build !js

package remote

// thisPlatform forbids nothing.
var thisPlatform = platform{}
