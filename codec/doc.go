// Package codec compresses and expands single streams.
package codec
