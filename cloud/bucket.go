package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"gocloud.dev/blob"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
)

// Driver is what the interface of gocloud.dev/blob does not offer for a kind of store. The packages below this one have
// drivers; a nil Driver uses only gocloud.dev/blob.
type Driver interface {
	// Get requests a range of an object: see [remote.Getter]. If off is 0 and the object is empty, the answer has no
	// body. Errors are those of the bucket.
	Get(ctx context.Context, b *blob.Bucket, key string, off, n int64, version string) (*remote.Answer, error)
	// Status returns the HTTP status that an error of the store has, or 0.
	Status(err error) int
}

// Locator is implemented by a Driver whose store depends on more than the URL of a bucket, such as on the environment.
type Locator interface {
	// Location returns what distinguishes the store of a bucket from others, such as an endpoint or an account. It must
	// not depend on credentials that change. It need not find out an endpoint that the program has set in a client of
	// its own: see [Bucket.Open].
	Location(b *blob.Bucket) string
}

// Bucket is a bucket of a store. It is safe for concurrent use. Errors of the store are a *remote.Error. They wrap the
// error of the library and, where there is one, the common value: fs.ErrNotExist, fs.ErrExist, fs.ErrPermission or
// frame.ErrChanged.
type Bucket struct {
	*blob.Bucket
	driver Driver
	name   string // what the names of objects in messages begin with: the URL, a slash, and the prefix of all keys
	id     string // the URL, and what a Locator returns
}

// New returns a Bucket for b, which the Bucket owns. d is the driver for the store; nil uses what all stores have in
// common. A URL such as "s3://bucket" names the bucket in messages and, with the location of a Locator, in disk caches.
// Messages leave out its user and query, which may hold secrets, and put the prefix of the query before the key.
func New(b *blob.Bucket, url string, d Driver) *Bucket {
	if d == nil {
		d = common{}
	}
	name := ""
	if u, err := parse(url); err == nil && u.Host == "" && !strings.ContainsAny(url, "?#@") {
		name = strings.TrimSuffix(url, "/") + "/" // perhaps no URL
	} else if err == nil {
		u.Path = strings.TrimSuffix(u.Path, "/") + "/"
		name = public(u) + u.Query().Get("prefix")
	}
	id := url
	if l, ok := d.(Locator); ok {
		id += "\x00" + l.Location(b)
	}
	return &Bucket{Bucket: b, driver: d, name: name, id: id}
}

// OpenBucket opens a bucket by its URL, as [blob.OpenBucket] does: "s3://bucket?region=eu-west-1". A prefix of all keys
// is a parameter of the query: "s3://bucket?prefix=dir/". Only the URL of a folder (file:) has a path.
func OpenBucket(ctx context.Context, url string, d Driver) (*Bucket, error) {
	u, err := parse(url)
	if err != nil {
		return nil, err
	}
	if u.Path != "" && u.Path != "/" && !strings.HasSuffix(u.Scheme, "file") { // drivers would ignore the path
		return nil, fmt.Errorf("invalid URL %q: want SCHEME://BUCKET without a path; the query can have a prefix of keys, such as ?prefix=dir/: %w",
			public(u), frame.ErrParam)
	}
	b, err := blob.OpenBucket(given(ctx), url)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", withoutSecrets(err, u), frame.ErrParam)
	}
	return New(b, url, d), nil
}

// parse parses a URL. An error does not show any part of it, because it may hold secrets.
func parse(rawURL string) (*url.URL, error) {
	u, err := url.Parse(rawURL)
	if err == nil {
		return u, nil
	}
	var e *url.Error // quotes the URL, and its cause may quote a part
	if errors.As(err, &e) {
		err = e.Err
	}
	cause, _, _ := strings.Cut(err.Error(), ` "`)
	return nil, fmt.Errorf("invalid URL: %s: %w", cause, frame.ErrParam)
}

// public returns a URL without its user, query and fragment, which may hold secrets. Without a host, the user can be in
// the path, except in that of a folder.
func public(u *url.URL) string {
	if u.Host == "" && strings.Contains(u.Path+u.Opaque, "@") && !strings.HasSuffix(u.Scheme, "file") {
		return u.Scheme + ":"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// withoutSecrets removes the user and the query of u from an error of opening it. Drivers show the URL and bad values.
func withoutSecrets(err error, u *url.URL) error {
	if u.String() == public(u) {
		return err
	}
	passed := *u // what a driver gets
	q := u.Query()
	q.Del("prefix")
	q.Del("key")
	passed.RawQuery = q.Encode()
	text := strings.NewReplacer(u.String(), public(u), passed.String(), public(u)).Replace(err.Error())
	rest := text
	if u.Path != "" {
		rest = strings.ReplaceAll(text, u.Path, "")
	}
	hide := strings.ContainsAny(rest, "?@") // the URL in another form
	for name, values := range q {
		for _, v := range values {
			v = cmp.Or(v, name)
			quoted := strconv.Quote(v)
			// A text contains most values of a few characters, and they are no secrets.
			hide = hide || len(v) > 3 && (strings.Contains(rest, v) || strings.Contains(rest, quoted[1:len(quoted)-1]))
		}
	}
	switch {
	case hide:
		text = fmt.Sprintf("open bucket %s: the error is not shown, because it may hold a value of the query", public(u))
	case text == err.Error():
		return err
	}
	return errors.New(text)
}

// given returns ctx, or the background context if it is nil, as in the other packages.
func given(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// Open opens the object with a key for reading. See [remote.Open] for its requests and [remote.OpenGetter] for the
// options that do not apply. Close of the Object does not close the Bucket.
//
// Options.Dir keeps objects by the URL of the Bucket, by the location that the driver returns, and by the key. If one
// URL leads to several stores, and the driver is not a [Locator], set Options.Key to different names. A program that
// sets the endpoint of a client of its own must set Options.Key, too: the driver may not find out that endpoint, and
// reads could then return bytes of another store.
func (b *Bucket) Open(ctx context.Context, key string, o *remote.Options) (*remote.Object, error) {
	return b.open(ctx, key, &object{b, key}, o)
}

func (b *Bucket) open(ctx context.Context, key string, g remote.Getter, o *remote.Options) (*remote.Object, error) {
	var opts remote.Options
	if o != nil {
		opts = *o
	}
	if opts.Dir != "" && opts.Key == "" {
		opts.Key = b.id + "\x00" + key
	}
	return remote.OpenGetter(ctx, b.name+key, g, &opts)
}

// OpenDir opens the sparse frame whose objects have keys that begin with prefix and "/": prefix/chunks.b2frame and an
// object for each chunk. See [remote.OpenDir] for its requests and [remote.OpenDirGetter] for the options that do not
// apply. Close of the Dir does not close the Bucket.
func (b *Bucket) OpenDir(ctx context.Context, prefix string, o *remote.Options) (*remote.Dir, error) {
	return b.openDir(ctx, prefix, func(key string) remote.Getter { return &object{b, key} }, o)
}

func (b *Bucket) openDir(ctx context.Context, prefix string, get func(key string) remote.Getter, o *remote.Options) (*remote.Dir, error) {
	var opts remote.Options
	if o != nil {
		opts = *o
	}
	prefix = strings.TrimSuffix(prefix, "/") + "/"
	if opts.Dir != "" && opts.Key == "" {
		opts.Key = b.id + "\x00" + prefix
	}
	return remote.OpenDirGetter(ctx, b.name+prefix, func(name string) remote.Getter { return get(prefix + name) }, &opts)
}

// OpenDir opens the sparse frame at a URL such as "s3://bucket/dir/a.b2nd/": that of its bucket with the prefix of the
// keys as the path. Close of the Dir also closes the bucket. See [Bucket.OpenDir].
func OpenDir(ctx context.Context, dirURL string, d Driver, o *remote.Options) (*remote.Dir, error) {
	bucketURL, prefix, err := split(dirURL)
	if err != nil {
		return nil, err
	}
	b, err := OpenBucket(ctx, bucketURL, d)
	if err != nil {
		return nil, err
	}
	dir, err := b.openDir(ctx, prefix, func(key string) remote.Getter {
		if strings.HasSuffix(key, "/chunks.b2frame") { // it is closed last
			return &ownObject{object{b, key}}
		}
		return &object{b, key}
	}, o)
	if err != nil {
		b.Close()
		return nil, err
	}
	return dir, nil
}

// Open opens the object at a URL such as "s3://bucket/dir/a.b2nd?region=eu-west-1": that of its bucket with the key as
// the path. Close of the Object also closes the bucket. See [Bucket.Open].
func Open(ctx context.Context, objectURL string, d Driver, o *remote.Options) (*remote.Object, error) {
	bucketURL, key, err := split(objectURL)
	if err != nil {
		return nil, err
	}
	b, err := OpenBucket(ctx, bucketURL, d)
	if err != nil {
		return nil, err
	}
	obj, err := b.open(ctx, key, &ownObject{object{b, key}}, o)
	if err != nil {
		b.Close()
		return nil, err
	}
	return obj, nil
}

// split returns the URL of the bucket of an object, and the key of the object.
func split(objectURL string) (bucketURL, key string, err error) {
	u, err := parse(objectURL)
	if err != nil {
		return "", "", err
	}
	key = strings.TrimPrefix(u.Path, "/")
	if u.Host == "" || key == "" || u.Fragment != "" {
		return "", "", fmt.Errorf("invalid URL %q: want SCHEME://BUCKET/KEY without a fragment: %w", public(u), frame.ErrParam)
	}
	u.Path, u.RawPath = "", ""
	return u.String(), key, nil
}
