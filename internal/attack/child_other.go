//go:build !unix

package attack

import "time"

// child is a process that checks mutants; there are none.
type child struct{ base string }

func startChild(string, string, ...string) (*child, error) { return nil, errNoChildren }

func (c *child) ask(uint64) (o Outcome, fault string, err error) { return o, "", errNoChildren }

func (c *child) askFor(uint64, time.Duration) (o Outcome, fault string, err error) {
	return o, "", errNoChildren
}

func (c *child) stop() {}
