/* Packs buffers with known lifetimes into one block. Sizes and order alone decide, so that the offsets are
 * the same on every machine. */
#ifndef MODELS_COST_PACKING_H
#define MODELS_COST_PACKING_H

#include "models/cost/lifetimes.h"

/* Assigns offsets, multiples of PDNN_MEMORY_ALIGN: first the resident buffers, those that lead before the
 * others and each in their own order, so that graphs with the same weights and state have them at the same
 * offsets; above them the rest, wherever nothing else lies during their lives. *total is the size of the
 * block, pdnn_memory_peak at least. Buffers without bytes get offset 0. */
enum pdnn_status pdnn_memory_pack(struct pdnn_lifetime *lifetimes, size_t count, struct pdnn_arena *scratch,
                                  uint64_t *total, struct pdnn_err *err);

#endif
