/* The parts of making a plan, for what puts several into one block. Private to core. */
#ifndef RUNTIME_CORE_PLAN_PARTS_H
#define RUNTIME_CORE_PLAN_PARTS_H

#include "runtime/core/plan.h"

/* Fresh zero pages, huge where the kernel gives them. is_reserve: only what is touched counts as memory. */
enum pdnn_status pdnn_block_map(uint64_t bytes, bool is_reserve, unsigned char **block, struct pdnn_err *err);
void pdnn_block_unmap(unsigned char *block, uint64_t bytes);

/* Fills the program, whose wishes are set, and packs it: block_bytes and offsets. Weights and state come
 * first. */
enum pdnn_status pdnn_plan_compile(struct pdnn_plan *plan, struct pdnn_err *err);

/* Gives every slot its address in the memory, of block_bytes at least, and binds the steps. */
enum pdnn_status pdnn_plan_bind(struct pdnn_plan *plan, unsigned char *memory, struct pdnn_err *err);

/* Whether the slot is of weights or state. */
bool pdnn_plan_is_shared(const struct pdnn_plan *plan, size_t slot);

/* Makes the seeded data of the slots for which is_shared is so. Those that begin with zeros have them
 * already, where the block's pages are fresh. */
enum pdnn_status pdnn_plan_fill(struct pdnn_plan *plan, bool is_shared, uint64_t seed, struct pdnn_err *err);

#endif
