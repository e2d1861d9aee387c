/* tfrecord.h - records of TensorFlow's files: length, its checksum, bytes, their checksum; the
 * checksums are masked CRC-32C (tensorflow.org/tutorials/load_data/tfrecord). Threads:
 * thread-compatible. */
#ifndef LZ_BASE_FORMATS_TFRECORD_H
#define LZ_BASE_FORMATS_TFRECORD_H
#include "base/vec.h"

uint32_t lz_crc32c(const void *p, size_t n); /* RFC 3720, appendix B.4 */
/* Appends a record of these bytes. */
void lz_tfrecord_put(lz_buf *b, const void *p, size_t n);
/* The record at *at of the n bytes, which *at then is behind. Untrusted. False: at the end (*why is
 * NULL), or what is there is no whole record: *why says so. */
bool lz_tfrecord_next(const void *bytes, size_t n, size_t *at, const void **p, size_t *len,
                      const char **why);
#endif
