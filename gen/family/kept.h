/* Families of users in a result directory: families/NAME@HASH.yaml has the text as it was read, so that the
 * rows keep their meaning whatever becomes of the user's file. */
#ifndef GEN_FAMILY_KEPT_H
#define GEN_FAMILY_KEPT_H

#include "base/paths/folder.h"
#include "models/family.h"

/* Adds those that the directory keeps to the catalog; there need not be any. PDNN_INVALID, naming the file,
 * for one that is not what its name says, and for two definitions with one name and hash. */
enum pdnn_status pdnn_families_read(const char *directory, struct pdnn_err *err);

/* Keeps those of the catalog that do not ship, where they are not kept yet. `changed` is told of each whose
 * name the directory has with another definition: "mynet@1b9c0e55". */
enum pdnn_status pdnn_families_keep(const struct pdnn_folder *folder,
                                    void (*changed)(void *user, const char *before, const char *now),
                                    void *user, struct pdnn_err *err);

/* Removes those that the caller no longer names. */
void pdnn_families_drop(const struct pdnn_folder *folder, bool (*names)(const void *user, const char *name),
                        const void *user);

#endif
