module github.com/goblosc/blosc2/examples/compare

go 1.26.0

require github.com/goblosc/blosc2 v0.0.0

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/vmihailenco/msgpack/v5 v5.4.1 // indirect
	github.com/vmihailenco/tagparser/v2 v2.0.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/goblosc/blosc2 => ../..
