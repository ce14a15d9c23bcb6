package s3

import (
	"bytes"
	"cmp"
	"context"
	"crypto/fips140"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"gocloud.dev/blob"

	"github.com/goblosc/blosc2/cloud"
)

// upload is a multipart upload.
type upload struct {
	client    *s3.Client
	in        *s3.CreateMultipartUploadInput
	id        *string
	overwrite bool

	mu    sync.Mutex
	parts []types.CompletedPart
}

// errInput ends a request of gocloud.dev/blob before it is sent.
var errInput = errors.New("the bucket is not one of package s3blob")

// NewUpload implements [cloud.Uploader]. gocloud.dev/blob only uploads parts in order. So the upload uses the client of
// the bucket, with the bucket, the key and the encryption that gocloud.dev/blob would use.
func (Driver) NewUpload(ctx context.Context, b *blob.Bucket, key, contentType string, overwrite bool) (cloud.Upload, error) {
	u := &upload{overwrite: overwrite}
	var in *transfermanager.UploadObjectInput
	_, err := b.NewWriter(ctx, key, &blob.WriterOptions{ContentType: contentType, BeforeWrite: func(as func(any) bool) error {
		as(&in)
		return errInput
	}})
	if in == nil || !b.As(&u.client) {
		return nil, cmp.Or(err, errInput)
	}
	u.in = &s3.CreateMultipartUploadInput{
		Bucket: in.Bucket, Key: in.Key, ContentType: in.ContentType,
		ServerSideEncryption: types.ServerSideEncryption(in.ServerSideEncryption), SSEKMSKeyId: in.SSEKMSKeyID,
	}
	if u.client.Options().RequestChecksumCalculation != aws.RequestChecksumCalculationWhenRequired {
		u.in.ChecksumAlgorithm = types.ChecksumAlgorithmCrc32 // the one that the client adds to parts
	}
	out, err := u.client.CreateMultipartUpload(ctx, u.in)
	if err != nil {
		return nil, err
	}
	u.id = out.UploadId
	return u, nil
}

// Part implements [cloud.Upload].
func (u *upload) Part(ctx context.Context, number int, data []byte) error {
	out, err := u.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: u.in.Bucket, Key: u.in.Key, UploadId: u.id, PartNumber: aws.Int32(int32(number)),
		ChecksumAlgorithm: u.in.ChecksumAlgorithm, Body: bytes.NewReader(data), ContentLength: aws.Int64(int64(len(data))),
	})
	if err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.parts = append(u.parts, types.CompletedPart{
		PartNumber: aws.Int32(int32(number)), ETag: out.ETag,
		ChecksumCRC32: out.ChecksumCRC32, ChecksumCRC32C: out.ChecksumCRC32C, ChecksumCRC64NVME: out.ChecksumCRC64NVME,
		ChecksumSHA1: out.ChecksumSHA1, ChecksumSHA256: out.ChecksumSHA256,
	})
	return nil
}

// Complete implements [cloud.Upload].
func (u *upload) Complete(ctx context.Context) error {
	slices.SortFunc(u.parts, func(a, b types.CompletedPart) int { return cmp.Compare(*a.PartNumber, *b.PartNumber) })
	in := &s3.CompleteMultipartUploadInput{
		Bucket: u.in.Bucket, Key: u.in.Key, UploadId: u.id, MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
	}
	if !u.overwrite {
		in.IfNoneMatch = aws.String("*")
	}
	_, err := u.client.CompleteMultipartUpload(ctx, in)
	if err != nil && ctx.Err() == nil && u.stored(ctx) {
		u.Abort(ctx) // in case another upload has made the same object
		return nil
	}
	return err
}

// stored reports whether the object has the ETag of the parts: the MD5 of their MD5s, and their number. If the answer
// to a request is lost, the client repeats the request, which then finds no upload. With some kinds of encryption,
// ETags are no MD5s, and the answer is false. So it is where MD5 is forbidden.
func (u *upload) stored(ctx context.Context) bool {
	if fips140.Enforced() {
		return false
	}
	h := md5.New()
	for _, p := range u.parts {
		sum, err := hex.DecodeString(strings.Trim(aws.ToString(p.ETag), `"`))
		if err != nil || len(sum) != md5.Size {
			return false
		}
		h.Write(sum)
	}
	out, err := u.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: u.in.Bucket, Key: u.in.Key})
	return err == nil && strings.Trim(aws.ToString(out.ETag), `"`) == fmt.Sprintf("%x-%d", h.Sum(nil), len(u.parts))
}

// Abort implements [cloud.Upload]. A part that arrives during the request can keep the upload alive, so Abort repeats
// the request until the upload is gone.
func (u *upload) Abort(ctx context.Context) error {
	for i := range 5 {
		_, err := u.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: u.in.Bucket, Key: u.in.Key, UploadId: u.id})
		if (Driver{}).Status(err) == http.StatusNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond << i):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
