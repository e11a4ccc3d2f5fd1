/* What Arm processors and the kernel on them show in another way than x86: model numbers instead of names,
 * and the length of SVE's vectors, which the list of features leaves out. */
#ifndef RUNTIME_HOST_HOST_ARM_H
#define RUNTIME_HOST_HOST_ARM_H

#include "runtime/host/host.h"

/* "Neoverse-V2" for the numbers of /proc/cpuinfo's "CPU implementer" and "CPU part"; the numbers themselves
 * where the table does not know them. */
void pdnn_hostarm_model(unsigned long implementer, unsigned long part, char model[PDNN_HOST_TEXT]);

/* On Arm: what the kernel tells this process about its processor (hwcaps), in the words of /proc/cpuinfo, and
 * "sve_256", "sve_512" if SVE's vectors have at least so many bits. /proc/cpuinfo itself describes another
 * processor where this one is emulated. Elsewhere: leaves isa alone. */
void pdnn_hostarm_isa(char isa[PDNN_HOST_TEXT]);

#endif
