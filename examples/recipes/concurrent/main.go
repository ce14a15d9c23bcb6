// Command concurrent reads and edits one array with many goroutines. Each read sees the array before or after a commit,
// never in between.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/goblosc/blosc2/ndarray"
)

const rows, columns = 64, 1000

// edit sets all items to 1, 2, ... 10. Each value is one commit.
func edit(ctx context.Context, a *ndarray.Array) error {
	for value := range int32(10) {
		if err := set(ctx, a, value+1); err != nil {
			return err
		}
	}
	return nil
}

// set sets all items to a value, with a write for each row and one commit.
func set(ctx context.Context, a *ndarray.Array, value int32) error {
	b, err := a.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.Rollback() // does nothing after Commit
	for row := range int64(rows) {
		if err := ndarray.Fill(ctx, b, value, ndarray.At(row)); err != nil {
			return err
		}
	}
	return b.Commit()
}

// check reads the array until it has the last value. It returns an error if a read mixes two commits.
func check(ctx context.Context, a *ndarray.Array) error {
	items := make([]int32, rows*columns)
	for items[0] < 10 {
		if err := ndarray.ReadInto(ctx, a, items); err != nil {
			return err
		}
		for _, v := range items {
			if v != items[0] {
				return errors.New("a read saw a part of a commit")
			}
		}
	}
	return nil
}

func run(ctx context.Context) error {
	a, err := ndarray.Zeros(ctx, "", []int64{rows, columns}, "<i4", &ndarray.CreateOptions{Chunks: []int64{16, columns}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for i := range 9 {
		group.Go(func() {
			work := check
			if i == 0 {
				work = edit
			}
			if err := work(ctx, a); err != nil {
				cancel(err) // stops the others
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	fmt.Println("8 goroutines read whole commits only")
	sum, err := ndarray.ReduceAll[int64](ctx, a, ndarray.OpSum, nil)
	fmt.Println("sum", sum)
	return err
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Print(err)
	}
}
