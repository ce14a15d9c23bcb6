package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testPixels compares the colors of all items of a plane with those that the verb plot of the command blosc2 draws.
func testPixels(t *testing.T, s *site, c *chrome) {
	const rows, cols = 20, 30
	data := make([]float32, rows*cols)
	for i := range data {
		data[i] = float32(math.Sin(float64(i*i)/97) * math.Exp(float64(i)/100))
	}
	data[100], data[101], data[102], data[103] = float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0
	b := encode(t, []int64{rows, cols}, data, nil)
	dir := t.TempDir()
	file := filepath.Join(dir, "pixels.b2nd")
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
	command := s.command(t)
	url := s.put(t, "pixels.b2nd", b)
	for _, style := range []struct{ args, hash string }{
		{"", ""},
		{"-palette gray -nan ff0000", "&map=gray&nan=ff0000"},
		{"-percentile 2,98", "&scale=percentile"},
		{"-percentile 10,60 -palette gray", "&scale=percentile&percentile=10,60&map=gray"},
		{"-log", "&scale=log"},
		{"-log -range 0.5,20", "&scale=log&range=0.5,20"},
		{"-range -1,2.5", "&range=-1,2.5"},
	} {
		args := append([]string{"plot", "-svg"}, strings.Fields(style.args)...)
		cmd := exec.Command(command, append(args, file, "-")...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		svg, err := cmd.Output()
		if err != nil {
			t.Fatalf("plot %s: %v %s", style.args, err, stderr.Bytes())
		}
		want := heatMap(t, svg, rows, cols)
		p := c.newPage(t, 1200, 900, nil)
		p.open(s.url + "#at=0,29&url=" + url + style.hash)
		p.drawn()
		var got [][4]int
		p.eval(fmt.Sprintf(`(() => {
			const c = %s, list = [], { data } = c.getContext("2d", { willReadFrequently: true }).getImageData(0, 0, c.width, c.height);
			const side = Math.min(c.width / %d, c.height / %d), left = (c.width - side * %[2]d) / 2, top = (c.height - side * %[3]d) / 2;
			for (let r = 0; r < %[3]d; r++) for (let k = 0; k < %[2]d; k++) {
				const at = 4 * (Math.floor(top + (r + 0.5) * side) * c.width + Math.floor(left + (k + 0.5) * side));
				list.push([...data.subarray(at, at + 4)]);
			}
			return list;
		})()`, element("canvas"), cols, rows), &got)
		scale := want.Bounds().Dy() / rows
		bad := 0
		for i, pixel := range got {
			r, g, b, a := want.At(i%cols*scale+scale/2, i/cols*scale+scale/2).RGBA()
			if w := [4]int{int(r >> 8), int(g >> 8), int(b >> 8), int(a >> 8)}; pixel != w {
				if bad++; bad < 4 {
					t.Errorf("plot %s: item %d, %v, is %v, want %v", style.args, i, data[i], pixel, w)
				}
			}
		}
		if len(got) != rows*cols || bad > 0 {
			t.Errorf("plot %s: %d of %d pixels differ", style.args, bad, len(got))
		}
	}
}

// command builds the command blosc2, once, and returns its path.
func (s *site) command(t *testing.T) string {
	t.Helper()
	if s.blosc2 == "" {
		name := filepath.Join(s.dir, "blosc2")
		if out, err := exec.Command("go", "-C", "../blosc2", "build", "-o", name, ".").CombinedOutput(); err != nil {
			t.Fatalf("building the command: %v\n%s", err, out)
		}
		s.blosc2 = name
	}
	return s.blosc2
}

// heatMap returns the picture of the items in an SVG drawing.
func heatMap(t *testing.T, svg []byte, rows, cols int) image.Image {
	t.Helper()
	for _, m := range regexp.MustCompile(`data:image/jpg;base64,([A-Za-z0-9+/=\s]+)`).FindAllSubmatch(svg, -1) {
		b, err := base64.StdEncoding.DecodeString(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if n := img.Bounds(); n.Dx()*rows == n.Dy()*cols {
			return img
		}
	}
	t.Fatal("no heat map in the drawing")
	return nil
}
