/* Families from the process that reads their files to those that build their graphs. */
#ifndef MODELS_ZOO_TRANSPORT_H
#define MODELS_ZOO_TRANSPORT_H

#include "base/err.h"
#include "base/str.h"
#include "models/family.h"

/* Appends what the other process needs: the family as ids name it, a line, and the full text of its
 * definition (models/definition/text/canonical.h). */
void pdnn_family_pack(const struct pdnn_family_def *family, struct pdnn_str *out);

/* Adds a family that arrived so, in bytes from anywhere, to the catalog. PDNN_INVALID for anything that
 * pdnn_family_pack does not write. */
enum pdnn_status pdnn_family_unpack(const char *bytes, size_t length, struct pdnn_err *err);

#endif
