/* An order of instances of which every prefix is a balanced sample. Says nothing about what they cost. */
#ifndef RUNTIME_DRIVER_SWEEP_SWEEP_SPREAD_H
#define RUNTIME_DRIVER_SWEEP_SWEEP_SPREAD_H

#include "models/instance.h"

#include <stddef.h>

/* Of a time that does not suffice for all, one instance takes this part at most as long as there are others.
 */
enum { PDNN_SPREAD_LEAST = 16 };

/* Sets order[0..count) to a permutation in which every prefix has its share of each family, of each value of
 * each setting and hyper-parameter, and of each pair of those; of more than 16 values, neighbours count as
 * one. The same for the same instances and seed; instances are settled (pdnn_instance_settle).
 *
 * Each next one is that of 32 random ones that adds the least to the sum of squared deviations from those
 * shares, each divided by the share. */
void pdnn_sweep_spread(const struct pdnn_instance *const *instances, size_t count, uint64_t seed,
                       uint32_t *order);

#endif
