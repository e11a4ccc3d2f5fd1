/* Facts about the machine from text files under /proc and /sys. root is prepended to every path: "" for the
 * real ones, a directory in tests. What cannot be read is empty or 0. */
#ifndef RUNTIME_HOST_HOST_FILES_H
#define RUNTIME_HOST_HOST_FILES_H

#include <stdbool.h>
#include <stdint.h>

enum { PDNN_HOST_TEXT = 128 };

/* The contents of root + path on the heap, freed by the caller, or NULL. */
char *pdnn_hostfiles_read(const char *root, const char *path);

/* The number at the start of the file; false if there is none ("max"). */
bool pdnn_hostfiles_number(const char *root, const char *path, uint64_t *number);

/* The first number after the line's key, such as "MemTotal:" in the text of /proc/meminfo. */
bool pdnn_hostfiles_entry(const char *text, const char *key, uint64_t *number);

/* Model name and relevant instruction sets from /proc/cpuinfo. Arm's has a number for the model. */
void pdnn_hostfiles_cpu(const char *root, char model[PDNN_HOST_TEXT], char isa[PDNN_HOST_TEXT]);

/* "AuthenticAMD family 25 model 1", which tells generations apart where virtual machines have one name for
 * all; "" where /proc/cpuinfo does not say. */
void pdnn_hostfiles_generation(const char *root, char generation[PDNN_HOST_TEXT]);

/* On Arm: what the kernel tells this process about its processor (hwcaps), in the words of /proc/cpuinfo, and
 * "sve_256", "sve_512" if SVE's vectors have at least so many bits. /proc/cpuinfo itself describes another
 * processor where this one is emulated. Elsewhere: leaves isa alone. */
void pdnn_hostfiles_hwcaps(char isa[PDNN_HOST_TEXT]);

void pdnn_hostfiles_memory(const char *root, uint64_t *total_bytes, uint64_t *available_bytes);

void pdnn_hostfiles_governor(const char *root, int pu, char governor[PDNN_HOST_TEXT]);

/* Time that a virtual machine's host has taken from these processing units so far, in units of the kernel's
 * ticks, usually 10 ms; NaN where the kernel does not say. */
double pdnn_hostfiles_steal_ns(const char *root, const int *units, int64_t count);

/* Sum of the thermal throttle counters of all processing units, 0 if there are none. Compare before and
 * after. */
uint64_t pdnn_hostfiles_throttle_count(const char *root);

#endif
