/* The stages of creating a plan, for code that puts several plans into one block. Private to core. */
#ifndef RUNTIME_PLAN_PLAN_PARTS_H
#define RUNTIME_PLAN_PLAN_PARTS_H

#include "runtime/plan/plan.h"

/* Maps zeroed pages, huge ones where the kernel grants them. is_reserve: only touched pages
 * count as memory. */
enum pdnn_status pdnn_block_map(uint64_t bytes, bool is_reserve, unsigned char **block, struct pdnn_err *err);
void pdnn_block_unmap(unsigned char *block, uint64_t bytes);

/* Compiles the program, whose options are set, and packs it: sets block_bytes and offset. Weights and
 * state come first. What does not fit trial_bytes is compiled again to spare memory, if it can be. */
enum pdnn_status pdnn_plan_compile(struct pdnn_plan *plan, struct pdnn_err *err);

/* What the options leave of their limit for the plan and for measuring candidates; UINT64_MAX: no limit. */
uint64_t pdnn_plan_room(const struct pdnn_plan_options *options);

/* PDNN_TOO_BIG unless the compiled plan and the largest buffer that its data passes through fit. */
enum pdnn_status pdnn_plan_check(const struct pdnn_plan *plan, const struct pdnn_plan_options *options,
                                 struct pdnn_err *err);

/* Bytes of the largest tensor that is not plain in the block and therefore made or read in a buffer beside
 * it. */
uint64_t pdnn_plan_moved_bytes(const struct pdnn_plan *plan);

/* Sets the slots' addresses in `memory` (at least block_bytes) and binds the steps. */
enum pdnn_status pdnn_plan_bind(struct pdnn_plan *plan, unsigned char *memory, struct pdnn_err *err);

/* Whether the slot holds weights or state. */
bool pdnn_plan_is_shared(const struct pdnn_plan *plan, size_t slot);

/* Generates data for the slots whose sharing equals is_shared. Zero-filled slots are skipped: the
 * block's fresh pages are zero. */
enum pdnn_status pdnn_plan_fill(struct pdnn_plan *plan, bool is_shared, const struct pdnn_fill_source *source,
                                struct pdnn_err *err);

#endif
