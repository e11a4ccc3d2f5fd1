/* The family of an ONNX file as its text builds it, beside the draft (gen/onnx/draft) that the text was
 * written of: what text says may not be what was followed. */
#ifndef GEN_ONNX_BUILT_H
#define GEN_ONNX_BUILT_H

#include "base/err.h"
#include "base/str.h"
#include "gen/onnx/draft.h"
#include "gen/onnx/polynomial.h"

/* Builds the family, whose axes are these, at each of their points. dims[k]: at point k the dimensions of the
 * program's results, one result after another. PDNN_INVALID with one line that begins with the file's name:
 * it cannot be built, or gives results of other shapes. */
enum pdnn_status pdnn_built_check(const char *file, const struct pdnn_str *text,
                                  const struct pdnn_polynomial_axes *axes, const struct pdnn_draft *program,
                                  const int64_t *const *dims, struct pdnn_err *err);

#endif
