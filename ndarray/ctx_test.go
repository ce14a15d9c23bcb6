package ndarray

import "context"

// ctx is the context of calls in tests that end no call early.
var ctx = context.Background()
