package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/goblosc/blosc2/internal/paths"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

const (
	hours, lats, lons = 24, 19, 36 // a file of the sample: a day on a grid of 10 degrees
)

// temperature returns a temperature of a simple model, in kelvins, as a multiple of 1/8.
func temperature(hour, lat, lon int64) float32 {
	north := math.Cos(float64(lat) / (lats - 1) * math.Pi)
	sun := math.Cos((float64(hour)/hours + float64(lon)/lons) * 2 * math.Pi)
	season := math.Cos(float64(hour) / (365 * hours) * 2 * math.Pi)
	return float32(math.Round(8*(300-45*north*north-15*season*north+5*sun)) / 8)
}

// SampleFolder returns an error if samples cannot be written below out, because it is a URL.
func SampleFolder(out string) error {
	if strings.Contains(out, "://") {
		return errors.New("-in is required, as samples are written to a folder")
	}
	return nil
}

// SampleDays writes the temperatures of some days to a folder, an array for each day.
func SampleDays(ctx context.Context, dir string, days int) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for day := range days {
		a, err := ndarray.FromFunc(ctx, paths.Join(dir, fmt.Sprintf("t2m-%03d.b2nd", day+1)), []int64{hours, lats, lons}, func(t ndarray.Tile[float32]) error {
			for at, item := range t.All() {
				*item = temperature(int64(day)*hours+at[0], at[1], at[2])
			}
			return nil
		}, &ndarray.CreateOptions{Chunks: []int64{8, -1, -1}, Attrs: map[string]any{"units": "K"}, Overwrite: true})
		if err != nil {
			return err
		}
		if err := a.Close(); err != nil {
			return err
		}
	}
	return nil
}

// SampleArchive writes the temperatures of some days to one array, in chunks of hours.
func SampleArchive(ctx context.Context, name string, days int) error {
	if err := os.MkdirAll(paths.Dir(name), 0o777); err != nil {
		return err
	}
	a, err := ndarray.FromFunc(ctx, name, []int64{int64(days) * hours, lats, lons}, func(t ndarray.Tile[float32]) error {
		for at, item := range t.All() {
			*item = temperature(at[0], at[1], at[2])
		}
		return nil
	}, &ndarray.CreateOptions{Chunks: []int64{6, -1, -1}, Attrs: map[string]any{"units": "K"}, Overwrite: true})
	if err != nil {
		return err
	}
	return a.Close()
}

// SampleVolumes writes some volumes as .npy files.
func SampleVolumes(ctx context.Context, dir string, count int) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for i := range count {
		a, err := ndarray.FromFunc(ctx, "", []int64{40, 50, int64(60 + i)}, func(t ndarray.Tile[uint16]) error {
			for at, item := range t.All() {
				*item = uint16(at[0]*at[1] + at[2]*int64(i+1))
			}
			return nil
		}, nil)
		if err != nil {
			return err
		}
		file, err := os.Create(paths.Join(dir, fmt.Sprintf("volume-%d.npy", i+1)))
		if err != nil {
			return err
		}
		err = npy.Write(ctx, file, a)
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return err
		}
	}
	return nil
}
