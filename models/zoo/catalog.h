/* The families of this process. Those that ship are texts, each of which is read when somebody asks for it or
 * for all; a spec's, a directory's or a file's are added. A family stays as it is to the end of the process.
 * One catalog for all; only one thread changes it. */
#ifndef MODELS_ZOO_CATALOG_H
#define MODELS_ZOO_CATALOG_H

#include "base/arena.h"
#include "models/family.h"

/* The text of a family that ships. */
struct pdnn_shipped_family {
    const char *name;
    const char *text;
};

/* Reads a text that ships; it cannot fail, a test reads them all. */
typedef const struct pdnn_family_def *pdnn_family_reader(const struct pdnn_shipped_family *shipped);

/* Adds the families that ship, which are borrowed, behind those that are there. A second call changes
 * nothing. */
void pdnn_catalog_ship(const struct pdnn_shipped_family *families, size_t count, pdnn_family_reader *read);

/* Adds a family, which is borrowed, or puts one that is there behind all others. Its name and its presets are
 * found before those that ship; a family before it that has its name is hidden. One that ships and came from
 * another process is found before all. */
void pdnn_catalog_add(const struct pdnn_family_def *family);

/* Who adds the families that a result directory keeps, whose files this room cannot read; and that for one
 * directory, before ids of its tables are read. Nothing is added where nobody reads. */
typedef enum pdnn_status pdnn_directory_reader(const char *directory, struct pdnn_err *err);
void pdnn_catalog_set_reader(pdnn_directory_reader *reader);
enum pdnn_status pdnn_catalog_read_directory(const char *directory, struct pdnn_err *err);

/* Owns from now on, to the end of the process, the arena that a family lives in. */
void pdnn_catalog_keep(struct pdnn_arena *arena);

/* Family i in the order of the build's list, then those added; NULL beyond the last. Reads it. */
const struct pdnn_family_def *pdnn_family_at(size_t i);

/* All of them, NULL-terminated; valid until a family is added. *count may be NULL. */
const struct pdnn_family_def *const *pdnn_family_all(size_t *count);

/* Its name, without reading it; NULL beyond the last. */
const char *pdnn_family_name(size_t i);

/* Family i if it was added; NULL for one that ships. */
const struct pdnn_family_def *pdnn_family_added(size_t i);

/* Whether it has the preset, whose name is `length` letters long, and is not hidden; without reading it. */
bool pdnn_family_has_preset(size_t i, const char *name, size_t length);

/* The family with the name, "fc" or "mynet@372764cd", or NULL. Reads no other. A family that ships may be
 * named with its hash. */
const struct pdnn_family_def *pdnn_family_find(const char *name);

/* What users may call a model: a family, or a preset without its family. */
struct pdnn_model_name {
    const struct pdnn_family_def *family;
    const struct pdnn_preset *preset; /* NULL: the family itself */
};

/* What ids begin with: its name, and "@372764cd" unless it ships. Returns buffer. */
enum { PDNN_FAMILY_TEXT = 80 };
const char *pdnn_family_format(const struct pdnn_family_def *family, char buffer[PDNN_FAMILY_TEXT]);

/* Finds a family or, if none has the name, the preset that has it. PDNN_INVALID: "unknown model 'fcc', did
 * you mean 'fc'?" or "paper-min is a preset of fc and rnn, write fc:paper-min or rnn:paper-min"; with
 * in_yaml, "write fc: {preset: paper-min} or ...". */
enum pdnn_status pdnn_model_find(const char *name, bool in_yaml, struct pdnn_model_name *model,
                                 struct pdnn_err *err);

/* ", did you mean 'resnet50'?", or 'rnn/cell=lstm' of a word that only one hyper-parameter has, which with
 * in_yaml is 'rnn: {cell: lstm}'; "" if nothing is near. Returns buffer. */
const char *pdnn_model_suggest(char buffer[PDNN_SUGGESTION_TEXT], const char *name, bool in_yaml);

/* True if a family or the preset of some family has the name, which is `length` letters long. */
bool pdnn_model_is_known(const char *name, size_t length);

/* "fc has no preset 'paper-mn', did you mean 'paper-min'?", or "... did you mean 'cnn:vgg16'?". Returns
 * PDNN_INVALID. */
enum pdnn_status pdnn_preset_unknown(const struct pdnn_family_def *family, const char *name,
                                     struct pdnn_err *err);

#endif
