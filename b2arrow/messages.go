package b2arrow

import "encoding/binary"

// Package ipc trusts the lengths in the metadata of messages, which are FlatBuffers: a length of 2 GiB in a stream of
// 100 bytes ends the program. So this file follows the parts of the metadata for which package ipc allocates memory
// first. The names and numbers are those of Message.fbs and Schema.fbs of Arrow.

// Types of messages.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	batchMessage      = 3
)

// Types of fields that have a text or a list in their metadata.
const (
	timestampType = 10
	unionType     = 14
)

// checkMessages checks the messages of an Arrow stream, and returns the type of the first one, or 0 if there is none.
func checkMessages(stream []byte) (first int, err error) {
	const more = 0xffffffff // a length follows
	for len(stream) >= 4 {
		n := binary.LittleEndian.Uint32(stream)
		stream = stream[4:]
		if n == more {
			if len(stream) < 4 {
				return first, corrupt("half a message")
			}
			n = binary.LittleEndian.Uint32(stream)
			stream = stream[4:]
		}
		if n == 0 {
			return first, nil
		}
		if int64(n) > int64(len(stream)) {
			return first, corrupt("metadata of %d bytes in a stream with %d", n, len(stream))
		}
		m := &metadata{b: stream[:n], budget: 64<<10 + 16*int(n)}
		stream = stream[n:]
		kind, body := m.message()
		if m.bad {
			return first, corrupt("metadata of a message")
		}
		if m.compressed {
			return first, unsupported("compressed Arrow streams")
		}
		if body < 0 || body > int64(len(stream)) {
			return first, corrupt("message of %d bytes in a stream with %d", body, len(stream))
		}
		stream = stream[body:]
		if first == 0 {
			first = kind
		}
	}
	return first, nil
}

// metadata is a FlatBuffer that is checked.
type metadata struct {
	b          []byte
	budget     int  // what package ipc may still allocate for it; tables may be shared
	bad        bool // it is wrong
	compressed bool
}

// at returns the number of size bytes at a position, or 0 if it is outside.
func (m *metadata) at(pos int64, size int64) int64 {
	if pos < 0 || pos > int64(len(m.b))-size {
		m.bad = true
		return 0
	}
	b := m.b[pos:]
	switch size {
	case 1:
		return int64(b[0])
	case 2:
		return int64(binary.LittleEndian.Uint16(b))
	case 4:
		return int64(binary.LittleEndian.Uint32(b))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// field returns the position of field i of a table, or 0 if it is missing.
func (m *metadata) field(table int64, i int64) int64 {
	vtable := table - int64(int32(m.at(table, 4)))
	if size := m.at(vtable, 2); m.bad || 4+2*i >= size {
		return 0
	}
	if offset := m.at(vtable+4+2*i, 2); offset != 0 {
		return table + offset
	}
	return 0
}

// target returns the position that field i of a table refers to, or 0 if it is missing.
func (m *metadata) target(table int64, i int64) int64 {
	pos := m.field(table, i)
	if pos == 0 {
		return 0
	}
	return pos + m.at(pos, 4)
}

// spend reduces the budget.
func (m *metadata) spend(n int64) bool {
	if n > int64(m.budget) {
		m.bad = true
	}
	if !m.bad {
		m.budget -= int(n)
	}
	return !m.bad
}

// text checks the text or the list of numbers of size bytes in field i of a table.
func (m *metadata) text(table, i, size int64) {
	if pos := m.target(table, i); pos != 0 {
		n := m.at(pos, 4) * size
		if m.spend(n) && n > int64(len(m.b))-pos-4 {
			m.bad = true
		}
	}
}

// tables calls see with the tables of the list in field i of a table.
func (m *metadata) tables(table, i int64, see func(table int64)) {
	pos := m.target(table, i)
	if pos == 0 || m.bad {
		return
	}
	n := m.at(pos, 4)
	if n > (int64(len(m.b))-pos-4)/4 {
		m.bad = true
		return
	}
	for k := range n {
		at := pos + 4 + 4*k
		if !m.spend(16) {
			return
		}
		see(at + m.at(at, 4))
	}
}

// message checks the metadata of a message. It returns its type and the number of bytes of its body.
func (m *metadata) message() (kind int, body int64) {
	root := m.at(0, 4)
	if pos := m.field(root, 1); pos != 0 {
		kind = int(m.at(pos, 1))
	}
	header := m.target(root, 2)
	if pos := m.field(root, 3); pos != 0 {
		body = m.at(pos, 8)
	}
	m.pairs(root, 4)
	if header == 0 {
		m.bad = true
		return 0, 0
	}
	switch kind {
	case schemaMessage:
		m.fields(header, 1, 0)
		m.pairs(header, 2)
	case dictionaryMessage:
		if batch := m.target(header, 1); batch != 0 {
			m.compressed = m.field(batch, 3) != 0
		}
	case batchMessage:
		m.compressed = m.field(header, 3) != 0
	default:
		m.bad = true
	}
	return kind, body
}

// pairs checks the list of keys and values in field i of a table.
func (m *metadata) pairs(table, i int64) {
	m.tables(table, i, func(pair int64) {
		m.text(pair, 0, 1)
		m.text(pair, 1, 1)
	})
}

// fields checks the list of fields in field i of a table. depth is the number of fields around them.
func (m *metadata) fields(table, i int64, depth int) {
	if depth > maxDepth {
		m.bad = true
		return
	}
	m.tables(table, i, func(f int64) {
		m.spend(256) // structures of package arrow
		m.text(f, 0, 1)
		if pos, t := m.field(f, 2), m.target(f, 3); pos != 0 && t != 0 {
			switch m.at(pos, 1) {
			case timestampType:
				m.text(t, 1, 1)
			case unionType:
				m.text(t, 1, 4)
			}
		}
		m.fields(f, 5, depth+1)
		m.pairs(f, 6)
	})
}
