/* A set of instances, for keeping the first of equal ones: 32 bytes each, no ids. */
#ifndef GEN_EXPANSION_INSTANCES_H
#define GEN_EXPANSION_INSTANCES_H

#include "models/instance.h"

#include <stdbool.h>
#include <stddef.h>

/* {0} is empty. */
struct pdnn_instance_set {
    struct pdnn_instance_print *slots; /* {0, 0}: free */
    size_t count, room;                /* room is a power of two */
};

/* False if an equal instance was added before. */
bool pdnn_instance_set_add(struct pdnn_instance_set *set, const struct pdnn_instance *instance);
bool pdnn_instance_set_has(const struct pdnn_instance_set *set, const struct pdnn_instance *instance);
void pdnn_instance_set_finish(struct pdnn_instance_set *set);

#endif
