package engine

// Metalayers by which python-blosc2 marks frames whose chunks do not hold the data. Other readers find zeros there.
const (
	ProxyLayer   = "proxy-source" // a cache of chunks of another array
	ObjectLayer  = "b2o"          // a lazy expression, a lazy function or a remote array
	OldLazyLayer = "LazyArray"    // a lazy expression or function, before b2o
)

// MarksOrigin reports whether a metalayer with this name marks a frame whose data is elsewhere. A frame that gets the
// data itself should not have it.
func MarksOrigin(name string) bool {
	return name == ProxyLayer || name == ObjectLayer || name == OldLazyLayer
}
