package frame

import (
	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/tune"
)

// tuner chooses the parameters of the chunks that the creating Frame adds, if CreateOptions have a Goal. The batch that
// is open uses it. A nil *tuner leaves the parameters as they are.
type tuner struct {
	*tune.Tuner
	first coder.Params // the first choice, which the header records; Level is 0 before
}

// newTuner returns the tuner for a goal, or nil if there is none.
func newTuner(g chunk.Goal, typeSize int) *tuner {
	if g == tune.NoGoal {
		return nil
	}
	return &tuner{Tuner: tune.New(g, typeSize)}
}

// begin announces that about n bytes follow, and returns t.
func (t *tuner) begin(n int64) *tuner {
	if t != nil {
		t.Expect(n)
	}
	return t
}
