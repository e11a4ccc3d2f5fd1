/* Lists of ops, and blocks. Internal to gen/family. */
#ifndef GEN_FAMILY_ENTRIES_H
#define GEN_FAMILY_ENTRIES_H

#include "gen/family/reader.h"

/* The entries of a list; those in brackets are put in their place. */
struct pdnn_definition_entries pdnn_family_entries(const struct pdnn_reader *reader,
                                                   const struct pdnn_yaml *list);

const struct pdnn_definition_block *pdnn_family_blocks(const struct pdnn_reader *reader,
                                                       const struct pdnn_yaml *map, size_t *count);

#endif
