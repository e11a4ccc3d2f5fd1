/* Which build of a library is loaded: two builds of one version may run different code. */
#ifndef RUNTIME_BACKEND_LIBRARY_BUILD_H
#define RUNTIME_BACKEND_LIBRARY_BUILD_H

#include <stddef.h>

enum { PDNN_LIBRARY_BUILD_TEXT = 17 };

/* The first digits of the id that the linker gave to the shared object with this static datum, or of a
 * checksum of its code where it has none. "" if no object has the datum. */
const char *pdnn_library_build(const void *datum, char text[PDNN_LIBRARY_BUILD_TEXT]);

/* Writes the path of that object as the dynamic linker found it; "" if it is the program itself, or the path
 * does not fit. Returns text. */
const char *pdnn_library_path(const void *datum, char *text, size_t room);

#endif
