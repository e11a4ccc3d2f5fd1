/* SHA-256 (FIPS 180-4) of a text that is in memory. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>

enum { PDNN_SHA256_TEXT = 65 };

/* The digest as 64 hex digits. Returns hex. */
const char *pdnn_sha256(const void *bytes, size_t length, char hex[PDNN_SHA256_TEXT]);

#endif
