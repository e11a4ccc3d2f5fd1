/* A set of instances, to keep the first of equal ones: 32 bytes each, no ids. */
#ifndef GEN_INSTANCES_H
#define GEN_INSTANCES_H

#include "base/err.h"
#include "models/instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two independent 64-bit hashes of the values that are in the id: equal fingerprints are taken for equal
 * instances, which is wrong once in 1e25 for a million of them. */
struct pdnn_fingerprint {
    uint64_t a, b;
};

/* {0} is empty. */
struct pdnn_instance_set {
    struct pdnn_fingerprint *slots; /* {0, 0}: free */
    size_t count, room;             /* room is a power of two */
};

/* *is_new is false when an equal instance was added before. */
enum pdnn_status pdnn_instance_set_add(struct pdnn_instance_set *set, const struct pdnn_instance *instance,
                                       bool *is_new, struct pdnn_err *err);
void pdnn_instance_set_finish(struct pdnn_instance_set *set);

#endif
