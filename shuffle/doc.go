// Package shuffle rearranges the bytes of a block.
package shuffle
