// Package remote reads objects on HTTP servers.
package remote
