/* Facts about the machine that stand in text files under /proc and /sys. root goes before every path: "" for
 * the real ones, a directory in tests. What cannot be read is empty or 0. */
#ifndef RUNTIME_FACTS_HOST_FILES_H
#define RUNTIME_FACTS_HOST_FILES_H

#include "runtime/facts/host.h"

#include <stdbool.h>

/* The file root + path in heap memory, or NULL. The caller frees. */
char *pdnn_hostfiles_read(const char *root, const char *path);

/* The number that the file begins with; false when there is none ("max"). */
bool pdnn_hostfiles_number(const char *root, const char *path, uint64_t *number);

/* The first number after a line's first word in the text of a file: "MemTotal:" in /proc/meminfo. */
bool pdnn_hostfiles_entry(const char *text, const char *key, uint64_t *number);

/* Model name, and the instruction sets that matter, of /proc/cpuinfo. */
void pdnn_hostfiles_cpu(const char *root, char model[PDNN_HOST_TEXT], char isa[PDNN_HOST_TEXT]);

void pdnn_hostfiles_memory(const char *root, uint64_t *total_bytes, uint64_t *available_bytes);

void pdnn_hostfiles_governor(const char *root, int pu, char governor[PDNN_HOST_TEXT]);

/* The sum of all processing units' thermal throttle counters. */
uint64_t pdnn_hostfiles_throttle_count(const char *root);

#endif
