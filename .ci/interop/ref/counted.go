package ref

/*
#include <blosc2.h>
#include <b2nd.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const uint8_t *data;
  int64_t size;
  int64_t opens, sizes, reads, bytes;
} counted;

static void *counted_open(const char *path, const char *mode, void *params) {
  ((counted *)params)->opens++;
  return params;
}

static int counted_close(void *stream) { return 0; }

static int64_t counted_size(void *stream) {
  ((counted *)stream)->sizes++;
  return ((counted *)stream)->size;
}

static int64_t counted_read(void **ptr, int64_t size, int64_t nitems, int64_t position, void *stream) {
  counted *c = stream;
  if (position < 0 || size <= 0 || position > c->size) {
    return 0;
  }
  int64_t n = (c->size - position) / size;
  n = n < nitems ? n : nitems;
  memcpy(*ptr, c->data + position, n * size);
  c->reads++;
  c->bytes += n * size;
  return n;
}

static int64_t counted_write(const void *ptr, int64_t size, int64_t nitems, int64_t position, void *stream) {
  return 0;
}

static int counted_truncate(void *stream, int64_t size) { return -1; }
static int counted_destroy(void *params) { return 0; }

#define COUNTED 200

static int counted_register(void) {
  static char name[] = "counted";
  blosc2_io_cb io = {COUNTED, name, true, counted_open, counted_close, counted_size, counted_write, counted_read,
                     counted_truncate, counted_destroy};
  return blosc2_register_io_cb(&io);
}

static int counted_array(char *path, counted *c, b2nd_array_t **array) {
  blosc2_io io = {COUNTED, "counted", c};
  blosc2_schunk *s = blosc2_schunk_open_udio(path, &io);
  return s == NULL ? BLOSC2_ERROR_FAILURE : b2nd_from_schunk(s, array);
}
*/
import "C"

import (
	"sync"
	"unsafe"
)

// Counts is what the C library has asked of a CountedArray through its callbacks.
type Counts struct {
	Opens, Sizes int   // calls that open the file and that ask for its size
	Reads        int   // calls that read; each begins when the one before has returned
	Bytes        int64 // that were read
}

// CountedArray is an array whose bytes the C library reads with callbacks, which count.
type CountedArray struct {
	*Array
	c *C.counted
}

// registerCounted registers the callbacks once.
var registerCounted = sync.OnceValue(func() error {
	start()
	return check("register callbacks", C.counted_register())
})

// OpenCounted opens a contiguous frame by means of callbacks. The C library also asks the system about the path: it
// must be a file of the size of the frame. Its content is not read.
func OpenCounted(path string, frame []byte) (*CountedArray, error) {
	if err := registerCounted(); err != nil {
		return nil, err
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name)) // Safe: C allocated it, and it is freed once
	c := (*C.counted)(C.calloc(1, C.sizeof_counted))
	*c = C.counted{data: (*C.uint8_t)(C.CBytes(frame)), size: C.int64_t(len(frame))}
	a := &CountedArray{&Array{}, c}
	if err := check("open", C.counted_array(name, c, &a.Array.c)); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Counts returns what was counted, and sets the counts to 0.
func (a *CountedArray) Counts() Counts {
	n := Counts{int(a.c.opens), int(a.c.sizes), int(a.c.reads), int64(a.c.bytes)}
	a.c.opens, a.c.sizes, a.c.reads, a.c.bytes = 0, 0, 0, 0
	return n
}

// Close frees the array and its bytes.
func (a *CountedArray) Close() {
	a.Array.Close()
	C.free(unsafe.Pointer(a.c.data)) // Safe: C allocated it, and it is freed once
	C.free(unsafe.Pointer(a.c))      // Safe: as above
	a.c = nil
}
