package remote

// In a browser, a suffix range or a condition in a request to another origin needs a second request, which asks the
// server for permission, and Accept-Encoding cannot be set. Browsers ask for ranges without compression.
var thisPlatform = platform{noSuffix: true, noConditions: true}
