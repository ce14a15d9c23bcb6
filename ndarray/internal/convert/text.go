package convert

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goblosc/blosc2/ndarray/internal/numbers"
)

// Strings end before trailing zeros, as in NumPy, which pads items with them.

// readText returns the string in an item of Unicode text.
func readText(item []byte, big bool) (string, error) {
	end := len(item)
	for end > 0 && item[end-1] == 0 {
		end--
	}
	end = (end + 3) / 4 * 4
	var buf [64]byte
	text := buf[:0]
	for i := 0; i < end; i += 4 {
		c := numbers.Load32(item[i:], big)
		if c < utf8.RuneSelf {
			text = append(text, byte(c))
			continue
		}
		if c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
			return "", fmt.Errorf("character %d is %#x, which is not valid Unicode", i/4, c)
		}
		text = utf8.AppendRune(text, rune(c))
	}
	return string(text), nil
}

// writeText writes a string as Unicode text to an item, whose bytes must be zeros.
func writeText(item []byte, s string, big bool) error {
	at := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n <= 1 {
			return errors.New("the text is not UTF-8")
		}
		if at == len(item) {
			if strings.Trim(s[i:], "\x00") == "" {
				return nil
			}
			return tooLong(utf8.RuneCountInString(s), "characters", len(item)/4)
		}
		numbers.Store32(item[at:], uint32(r), big)
		at += 4
		i += n
	}
	return nil
}

// writeString writes a string of bytes to an item, whose bytes must be zeros.
func writeString(item []byte, s string) error {
	if len(s) > len(item) && strings.Trim(s[len(item):], "\x00") != "" {
		return tooLong(len(s), "bytes", len(item))
	}
	copy(item, s)
	return nil
}

// tooLong returns the error for a string that does not fit in an item.
func tooLong(n int, what string, size int) error {
	return fmt.Errorf("string has %d %s, but the item holds %d", n, what, size)
}

// readString returns the string in an item of bytes.
func readString(item []byte) string { return string(bytes.TrimRight(item, "\x00")) }
