/* Where this program is, and what was installed with it. Everything is found from the program's own place,
 * so an installed tree can be moved or unpacked elsewhere. */
#ifndef BASE_PATHS_PROGRAM_H
#define BASE_PATHS_PROGRAM_H

#include <stdbool.h>

enum { PDNN_PROGRAM_TEXT = 4096 }; /* PATH_MAX of Linux */

/* The path of this program, links resolved. False if the system does not tell. */
bool pdnn_program_path(char path[PDNN_PROGRAM_TEXT]);

/* `name`, relative to this program's directory, as a path; nothing need be there. False as above, or if it is
 * too long. */
bool pdnn_program_beside(const char *name, char path[PDNN_PROGRAM_TEXT]);

/* The path of an installed data file, such as "sweeps/fc.yaml", or of a directory, "sweeps". False if there
 * is none, as for a program that was built but not installed. */
bool pdnn_program_data(const char *name, char path[PDNN_PROGRAM_TEXT]);

#endif
