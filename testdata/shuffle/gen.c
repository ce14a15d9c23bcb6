/* Prints what the filters of C-Blosc2 make of known blocks: the content of filters.txt, which the tests of package
 * shuffle read. Every line is a filter id, the type size, the parameter byte, the block length in bytes, the shape of the
 * block (or -) and the 64-bit FNV-1a hash of the filtered block.
 *
 *   cc gen.c -o gen $(pkg-config --cflags --libs blosc2) && ./gen > filters.txt
 *
 * The filtered block is caught by a codec of our own that never gains anything.
 */
#include <b2nd.h>
#include <blosc2.h>
#include <blosc2/filters-registry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t caught;
static int32_t caught_len;

static uint64_t fnv(const uint8_t *p, int32_t n) {
  uint64_t h = 0xcbf29ce484222325u;
  for (int32_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3u;
  return h;
}

static int catch_block(const uint8_t *in, int32_t in_len, uint8_t *out, int32_t out_len, uint8_t meta,
                       blosc2_cparams *cparams, const void *chunk) {
  (void)out, (void)out_len, (void)meta, (void)cparams, (void)chunk;
  caught = fnv(in, in_len);
  caught_len = in_len;
  return 0;
}

static int no_decoder(const uint8_t *in, int32_t in_len, uint8_t *out, int32_t out_len, uint8_t meta,
                      blosc2_dparams *dparams, const void *chunk) {
  (void)in, (void)in_len, (void)out, (void)out_len, (void)meta, (void)dparams, (void)chunk;
  return -1;
}

/* Bytes of a linear congruential generator, or floats in its place for the filter that computes with them. */
static void fill(uint8_t *p, int32_t n, int floats) {
  uint32_t x = 12345;
  for (int32_t i = 0; i < n; i += floats ? floats : 1) {
    x = x * 1664525u + 1013904223u;
    float f = (float)(x >> 12) / 7.0f;
    double d = (double)(x >> 12) / 7.0;
    if (floats == 4) memcpy(p + i, &f, 4);
    else if (floats == 8) memcpy(p + i, &d, 8);
    else p[i] = (uint8_t)(x >> 24);
  }
}

static void one(int id, int typesize, int meta, int ndim, const int64_t *dims, int64_t nbytes) {
  uint8_t *data = malloc((size_t)nbytes);
  fill(data, (int32_t)nbytes, id == BLOSC_FILTER_NDMEAN ? typesize : 0);
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = typesize;
  cparams.compcode = 200;
  cparams.blocksize = (int32_t)nbytes;
  cparams.splitmode = BLOSC_NEVER_SPLIT;
  memset(cparams.filters, 0, sizeof cparams.filters);
  cparams.filters[BLOSC2_MAX_FILTERS - 1] = (uint8_t)id;
  cparams.filters_meta[BLOSC2_MAX_FILTERS - 1] = (uint8_t)meta;
  caught_len = -1;
  if (ndim > 0) {
    int32_t part[B2ND_MAX_DIM];
    for (int i = 0; i < ndim; i++) part[i] = (int32_t)dims[i];
    blosc2_storage storage = {.contiguous = true, .cparams = &cparams};
    b2nd_context_t *ctx = b2nd_create_ctx(&storage, (int8_t)ndim, dims, part, part, NULL, 0, NULL, 0);
    b2nd_array_t *a = NULL;
    if (b2nd_from_cbuffer(ctx, &a, data, nbytes) >= 0) b2nd_free(a);
    b2nd_free_ctx(ctx);
  } else {
    blosc2_context *ctx = blosc2_create_cctx(cparams);
    uint8_t *out = malloc((size_t)nbytes + BLOSC2_MAX_OVERHEAD);
    blosc2_compress_ctx(ctx, data, (int32_t)nbytes, out, (int32_t)nbytes + BLOSC2_MAX_OVERHEAD);
    blosc2_free_ctx(ctx);
    free(out);
  }
  if (caught_len == nbytes) {
    printf("%d %d %d %lld ", id, typesize, meta, (long long)nbytes);
    for (int i = 0; i < ndim; i++) printf(i ? ",%lld" : "%lld", (long long)dims[i]);
    printf("%s %016llx\n", ndim ? "" : "-", (unsigned long long)caught);
  } else {
    fprintf(stderr, "no block: filter %d typesize %d meta %d nbytes %lld\n", id, typesize, meta, (long long)nbytes);
  }
  free(data);
}

int main(void) {
  blosc2_init();
  blosc2_codec codec = {.compcode = 200, .compname = "catch", .complib = 1, .version = 1, .encoder = catch_block, .decoder = no_decoder};
  if (blosc2_register_codec(&codec) < 0) return 1;
  static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 24, 32, 33, 64, 100, 255};
  static const int lens[] = {32, 100, 1000, 1003, 4096, 20001};
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (unsigned l = 0; l < sizeof lens / sizeof *lens; l++) {
      int ts = sizes[s], n = lens[l];
      if (n < 2 * ts) continue;
      int m = n / ts * ts; /* blocks of whole elements: C-Blosc2 takes no other block size */
      if (ts > 1) one(BLOSC_SHUFFLE, ts, 0, 0, NULL, m);
      if (ts > 1) one(BLOSC_SHUFFLE, ts, 4, 0, NULL, m);
      one(BLOSC_BITSHUFFLE, ts, 0, 0, NULL, m);
      one(BLOSC_DELTA, ts, 0, 0, NULL, m);
      one(BLOSC_FILTER_BYTEDELTA, ts, ts, 0, NULL, m);
      one(BLOSC_FILTER_BYTEDELTA, ts, 3, 0, NULL, m);
    }
  for (int bits = -52; bits <= 52; bits += 5) {
    one(BLOSC_TRUNC_PREC, 4, bits, 0, NULL, 1000);
    one(BLOSC_TRUNC_PREC, 8, bits, 0, NULL, 1000);
  }
  for (int bits = -63; bits <= 64; bits += 3)
    for (int ts = 1; ts <= 8; ts *= 2)
      if (bits != 0 && bits <= 8 * ts) one(BLOSC_FILTER_INT_TRUNC, ts, bits, 0, NULL, 1000);
  static const int64_t shapes[][9] = {{1, 50}, {2, 10, 10}, {2, 8, 12}, {2, 7, 9}, {3, 5, 6, 7}, {3, 8, 8, 8}, {4, 4, 5, 4, 5}, {5, 3, 2, 3, 2, 3}};
  for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++)
    for (int edge = 1; edge <= 8; edge++)
      for (int ts = 1; ts <= 16; ts *= 2) {
        int64_t n = ts;
        for (int i = 1; i <= shapes[s][0]; i++) n *= shapes[s][i];
        one(BLOSC_FILTER_NDCELL, ts, edge, (int)shapes[s][0], shapes[s] + 1, n);
        int fits = 1;
        for (int i = 1; i <= shapes[s][0]; i++) fits &= shapes[s][i] >= edge;
        if (fits && (ts == 4 || ts == 8)) one(BLOSC_FILTER_NDMEAN, ts, edge, (int)shapes[s][0], shapes[s] + 1, n);
      }
  blosc2_destroy();
  return 0;
}
