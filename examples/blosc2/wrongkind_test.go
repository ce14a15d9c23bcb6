package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStoreIsNoLeaf runs verbs that need a leaf on stores. The error names the verbs that list a store, and a leaf.
func TestStoreIsNoLeaf(t *testing.T) {
	for path, member := range map[string]string{"tree.b2z": "/img/level0", "tree.b2d": "/img/level0", "embed.b2e": "/a"} {
		path = storesDir + path
		for _, args := range [][]string{{"info", path}, {"slice", path, "0"}, {"stats", path}, {"dump", path}, {"table", path}} {
			if strings.HasSuffix(path, ".b2e") && (args[0] == "info" || args[0] == "dump") {
				continue // the store is a frame, too
			}
			want := path + " is a store; list it with blosc2 ls " + path + " or blosc2 info -tree " + path + ", and name a member, such as " + path + member
			fails(t, 1, want, "", args...)
		}
	}
	table := fixturesDir + "/tables/wide1.b2z"
	fails(t, 1, "is a table in a store; print it with blosc2 table "+table, "", "info", table)
	damaged := writeFile(t, "damaged.b2z", "this is neither a zip file nor a frame, but long enough")
	fails(t, 1, "not a Blosc2 frame", "", "info", damaged)
}

// TestGroupIsNoLeaf runs verbs that need a leaf on groups, in files and on a server. The error points to ls and a leaf.
func TestGroupIsNoLeaf(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(fixturesDir)))
	defer server.Close()
	for _, base := range []string{storesDir, server.URL + "/stores/"} {
		paths := map[string]string{"tree.b2z/img": "a group of a store", "tree.b2z": "a store"}
		if !isURL(base) {
			paths["tree.b2d/img"] = "a group of a store"
		}
		for path, kind := range paths {
			path = base + path
			leaf := path[:strings.Index(path, "tree.b2")+8] + "/img/level0"
			for _, args := range [][]string{{"info", path}, {"slice", path, "0"}, {"stats", path}, {"dump", path}, {"table", path}, {"objects", path}} {
				want := path + " is " + kind + "; list it with blosc2 ls " + path + " or blosc2 info -tree " + path + ", and name a member, such as " + leaf + "\n"
				fails(t, 1, want, "", args...)
			}
		}
		store := base + "tree.b2z"
		for _, args := range [][]string{{"info", store + "/none"}, {"table", store + "/none"}, {"slice", store + "/none", "0"}} {
			fails(t, 1, store+" has no key /none; list its keys with blosc2 ls "+store+"\n", "", args...)
		}
	}
	for _, args := range [][]string{{"info"}, {"ls"}, {"table"}, {"stats"}} {
		url := server.URL + "/stores/tree.b2d"
		fails(t, 1, "name a file in it, such as "+url+"/KEY.b2nd", "", append(args, url)...)
	}
}

// TestPipeIsNoLeaf gives a store on standard input to verbs that need a leaf or a table.
func TestPipeIsNoLeaf(t *testing.T) {
	stdin := readFile(t, storesDir+"tree.b2z")
	for _, args := range [][]string{{"info", "-"}, {"slice", "-", "0"}, {"stats", "-"}, {"dump", "-"}, {"table", "-"}, {"objects", "-"}} {
		fails(t, 1, "standard input is a store; list it with blosc2 ls - or blosc2 info -tree -\n", stdin, args...)
	}
	must(t, stdin, "ls", "-")
	must(t, stdin, "info", "-tree", "-")
	table := readFile(t, fixturesDir+"/tables/wide1.b2z")
	fails(t, 1, "standard input is a table in a store; print it with blosc2 table -", table, "info", "-")
}

// TestStoreIsNotEdited runs verbs that edit on stores and groups. repair made one frame of the chunks of all leaves.
func TestStoreIsNotEdited(t *testing.T) {
	frame := filepath.Join(t.TempDir(), "new.b2nd")
	for _, store := range []string{storesDir + "tree.b2z", storesDir + "tree.b2d"} {
		for path, want := range map[string]string{
			store:           store + " is a store; list it with blosc2 ls " + store + " or ",
			store + "/img":  store + "/img is a group of a store; list it with ",
			store + "/none": store + " has no key /none; list its keys with blosc2 ls " + store + "\n",
		} {
			for _, args := range [][]string{
				{"append", "-raw", path}, {"set", path, "0", "-value", "1"}, {"resize", path, "3"}, {"vlmeta", path, "set", "name", "1"},
				{"compact", path}, {"repair", path, frame},
			} {
				fails(t, 1, "blosc2 "+args[0]+": "+want, "", args...)
			}
		}
		for _, verb := range []string{"ls", "view"} {
			fails(t, 1, store+" has no key /none; list its keys with blosc2 ls "+store+"\n", "", verb, store+"/none")
		}
	}
	if _, err := os.Lstat(frame); err == nil {
		t.Error("repair has made a frame of a store")
	}
	fails(t, 1, "is an object array, not an array; print it with blosc2 objects ", "", "set", storesDir+"objects.b2b", "0", "-value", "1")
}

// TestWrongKind gives each kind of frame to verbs that need another one. The error names the verb that prints it.
func TestWrongKind(t *testing.T) {
	array, notes, chunks := newArray(t), storesDir+"objects.b2b", t.TempDir()+"/chunks"
	must(t, numbers(6), "create", "-chunksize", "8", "-raw", chunks)
	for _, c := range []struct {
		want string
		args []string
	}{
		{array + " is an array, not a table; print it with blosc2 slice " + array + " :", []string{"table", array}},
		{array + " is an array, not an array of objects; print it with blosc2 slice " + array + " :", []string{"objects", array}},
		{notes + " is an object array, not an array; print it with blosc2 objects " + notes, []string{"slice", notes, "0"}},
		{notes + " is an object array, not a table; print it with blosc2 objects " + notes, []string{"table", notes}},
		{chunks + " is a super-chunk, not an array; print it with blosc2 dump " + chunks, []string{"stats", chunks}},
		{storesDir + "tree.b2z/img/level0 is an array; print it with blosc2 slice", []string{"table", storesDir + "tree.b2z/img/level0"}},
	} {
		fails(t, 1, c.want, "", c.args...)
	}
	fails(t, 1, "standard input is an array, not a table; print it with blosc2 slice - :", readFile(t, array), "table", "-")
}

// TestErrorTexts checks that errors of files have no names of system calls, and that existing files are named once.
func TestErrorTexts(t *testing.T) {
	missing, a := t.TempDir()+"/missing", newArray(t)
	for _, args := range [][]string{{"info", missing}, {"table", missing}, {"diff", missing, a}, {"serve", missing}, {"create", "-raw", missing + "2", missing}} {
		code, _, errOut := callFree("", args...)
		if want := "blosc2 " + args[0] + ": " + missing + ": "; code == 0 || !strings.HasPrefix(errOut, want) || strings.Count(errOut, "missing") != 1 {
			t.Errorf("%q: exit %d, %q", args, code, errOut)
		}
	}
	fails(t, 1, a+" already exists; use -overwrite to replace it\n", numbers(6), "create", "-raw", a)
	fails(t, 2, "blosc2 resize: argument SHAPE: want integers separated by commas, got \"3,x\" (see ", "", "resize", a, "3,x")
	fails(t, 1, "SHAPE: the length -3 of axis 0 is negative", "", "resize", a, "--", "-3,5")
	fails(t, 1, "blosc2 create: -dtype: ", "", "create", "-dtype", "q9", missing)
	fails(t, 1, "blosc2 append: -dtype: ", "", "append", "-dtype", "q9", a)
	fails(t, 2, "OUT ends in .jpg, but plot writes .png and .svg", "", "plot", a, missing+".JPG")
	fails(t, 1, "SHAPE has 1 length, but the array has shape (6, 5)\n", "", "resize", a, "3")
	fails(t, 2, `unknown codec "zst", want blosclz, lz4,`, "", "copy", "-codec", "zst", a, missing)
	fails(t, 2, `unknown filter "trunc", want none, shuffle,`, "", "copy", "-filters", "trunc", a, missing)
	fails(t, 2, `-chunks: want integers separated by commas, got "3x4"`, "", "copy", "-chunks", "3x4", a, missing)
	fails(t, 2, "-chunks: 3000000000 does not fit in 32 bits", "", "copy", "-chunks", "3000000000", a, missing)
	fails(t, 2, "SEL is the name of a file, "+a+"; write PATH before SEL", "", "slice", "0:2", a)
	fails(t, 2, `"Ada" is not JSON; a string has quotes of its own, as in '"Ada"' (see `, "", "vlmeta", a, "set", "author", "Ada")
	fails(t, 2, "the integer 123456789012345678901234567890 does not fit in 64 bits", "", "vlmeta", a, "set", "n", "123456789012345678901234567890")
	fails(t, 2, "the integer -9223372036854775809 does not fit in 64 bits", "", "vlmeta", a, "set", "--", "n", "-9223372036854775809")
	fails(t, 2, "the number 1e400 does not fit in a float64", "", "vlmeta", a, "set", "n", "[1, 1e400]")
	fails(t, 2, `"{Ada}" is not JSON: invalid character`, "", "vlmeta", a, "set", "author", "{Ada}")

	npy := filepath.Join(t.TempDir(), "a.npy")
	_, out, _ := callFree("", "slice", "-npy", a, ":")
	if err := os.WriteFile(npy, []byte(out), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"info", npy}, {"slice", npy, "0"}, {"stats", npy}, {"dump", npy}, {"view", npy}, {"copy", npy, missing}} {
		fails(t, 1, npy+" is a .npy file; convert it with blosc2 create OUT "+npy+"\n", "", args...)
	}
}
