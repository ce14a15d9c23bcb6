//go:build dataflow

package cli

// The runner of Google Cloud Dataflow needs large libraries, so that it has a build tag.
import _ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
