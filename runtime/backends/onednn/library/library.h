/* oneDNN itself, opened: one CPU engine and one in-order stream. The files of this directory give the backend
 * what it needs of the library, independent of its version. Differences between major versions are behind
 * version.h, in v2.c and v3.c. */
#ifndef RUNTIME_BACKENDS_ONEDNN_LIBRARY_LIBRARY_H
#define RUNTIME_BACKENDS_ONEDNN_LIBRARY_LIBRARY_H

#include "base/err.h"
#include "models/isa.h"

#include <stdbool.h>

struct pdnn_onednn_library;
struct pdnn_sgemm;

/* "oneDNN 2.6.3 (avx2)"; static. */
const char *pdnn_onednn_version(void);
/* Of the library's file; static. */
const char *pdnn_onednn_path(void);
/* "avx2": the instruction set that the library uses. */
const char *pdnn_onednn_isa_name(void);

/* limit_isa of struct pdnn_backend_def. */
enum pdnn_status pdnn_onednn_limit_isa(enum pdnn_isa isa, struct pdnn_err *err);

/* Likewise. */
bool pdnn_onednn_ignores(const char *name, const char *value);

enum pdnn_status pdnn_onednn_library_create(struct pdnn_onednn_library **library, struct pdnn_err *err);
void pdnn_onednn_library_destroy(struct pdnn_onednn_library *library);

/* c = op(a) op(b), optionally added to c. 0, or the library's status. */
int pdnn_onednn_sgemm(const struct pdnn_sgemm *gemm);

#endif
