#include "models/zoo/catalog.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    struct pdnn_shipped_family shipped;   /* without a text: it was added */
    const struct pdnn_family_def *family; /* NULL: not read yet */
    bool is_own;                          /* it was added */
};

static struct {
    struct slot *slots;
    size_t count, room;
    const struct pdnn_family_def **all;
    struct pdnn_arena **arenas;
    size_t n_arenas, arenas_room;
    pdnn_family_reader *read;
    pdnn_directory_reader *read_directory;
} catalog;

static struct slot *add_slot(void) {
    catalog.slots = pdnn_grow(catalog.slots, &catalog.room, catalog.count, sizeof *catalog.slots);
    catalog.slots[catalog.count] = (struct slot){0};
    return &catalog.slots[catalog.count++];
}

void pdnn_catalog_add(const struct pdnn_family_def *family) {
    size_t kept = 0;
    for (size_t i = 0; i < catalog.count; i++)
        if (catalog.slots[i].family != family)
            catalog.slots[kept++] = catalog.slots[i];
    catalog.count = kept;
    struct slot *slot = add_slot();
    slot->family = family;
    slot->shipped.name = family->name;
    slot->is_own = true;
}

void pdnn_catalog_keep(struct pdnn_arena *arena) {
    catalog.arenas =
        pdnn_grow(catalog.arenas, &catalog.arenas_room, catalog.n_arenas, sizeof *catalog.arenas);
    catalog.arenas[catalog.n_arenas++] = arena;
}

void pdnn_catalog_ship(const struct pdnn_shipped_family *families, size_t count, pdnn_family_reader *read) {
    if (catalog.read)
        return;
    catalog.read = read;
    for (size_t i = 0; i < count; i++)
        add_slot()->shipped = families[i];
}

void pdnn_catalog_set_reader(pdnn_directory_reader *reader) {
    catalog.read_directory = reader;
}

enum pdnn_status pdnn_catalog_read_directory(const char *directory, struct pdnn_err *err) {
    return catalog.read_directory ? catalog.read_directory(directory, err) : PDNN_OK;
}

const struct pdnn_family_def *pdnn_family_at(size_t i) {
    if (i >= catalog.count)
        return NULL;
    if (!catalog.slots[i].family)
        catalog.slots[i].family = catalog.read(&catalog.slots[i].shipped);
    return catalog.slots[i].family;
}

const struct pdnn_family_def *const *pdnn_family_all(size_t *count) {
    free(catalog.all);
    catalog.all = pdnn_alloc(catalog.count + 1, sizeof *catalog.all);
    for (size_t i = 0; i < catalog.count; i++)
        catalog.all[i] = pdnn_family_at(i);
    if (count)
        *count = catalog.count;
    return catalog.all;
}

const char *pdnn_family_name(size_t i) {
    return i < catalog.count ? catalog.slots[i].shipped.name : NULL;
}

const struct pdnn_family_def *pdnn_family_added(size_t i) {
    return catalog.slots[i].is_own ? catalog.slots[i].family : NULL;
}

/* The line "  NAME: " below the line "presets:". */
static bool text_has_preset(const char *text, const char *name, size_t length) {
    bool inside = false;
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        if (*line != ' ' && *line != '\n' && *line != '#')
            inside = strncmp(line, "presets:", 8) == 0;
        if (inside && line[0] == ' ' && line[1] == ' ' && strncmp(line + 2, name, length) == 0 &&
            line[2 + length] == ':')
            return true;
    }
    return false;
}

/* How a family comes before others of its name, of which the last one that was added comes first. One that
 * ships, and was added, came from a process whose ids name it so. */
static int rank_of(const struct slot *slot) {
    return !slot->is_own ? 1 : slot->family->hash && !slot->family->ships ? 2 : 3;
}

/* The place of the family whose name is `length` letters of the text, with "@HASH" or not; SIZE_MAX: none. */
static size_t find_slot(const char *text, size_t length) {
    const char *at = memchr(text, '@', length);
    const size_t name_length = at ? (size_t)(at - text) : length;
    char hash[PDNN_FAMILY_TEXT] = "";
    size_t found = SIZE_MAX;
    if (at && length - name_length <= sizeof hash)
        memcpy(hash, at + 1, length - name_length - 1);
    for (size_t i = catalog.count; i-- > 0;) {
        const char *name = catalog.slots[i].shipped.name;
        if (strlen(name) != name_length || memcmp(name, text, name_length) != 0)
            continue;
        const struct pdnn_family_def *asked = at ? pdnn_family_at(i) : NULL;
        if (at && (!asked->hash || strcmp(asked->hash, hash) != 0))
            continue;
        if (found == SIZE_MAX || rank_of(&catalog.slots[i]) > rank_of(&catalog.slots[found]))
            found = i;
    }
    return found;
}

bool pdnn_family_has_preset(size_t i, const char *name, size_t length) {
    const struct slot *slot = &catalog.slots[i];
    bool has_it = !slot->family && text_has_preset(slot->shipped.text, name, length);
    for (size_t k = 0; slot->family && k < slot->family->n_presets && !has_it; k++) {
        const char *preset = slot->family->presets[k].name;
        has_it = strlen(preset) == length && memcmp(preset, name, length) == 0;
    }
    return has_it && find_slot(slot->shipped.name, strlen(slot->shipped.name)) == i;
}

const struct pdnn_family_def *pdnn_family_find(const char *name) {
    const size_t found = find_slot(name, strlen(name));
    return found == SIZE_MAX ? NULL : pdnn_family_at(found);
}

const char *pdnn_family_format(const struct pdnn_family_def *family, char buffer[PDNN_FAMILY_TEXT]) {
    const bool has_hash = family->hash && !family->ships;
    snprintf(buffer, PDNN_FAMILY_TEXT, "%s%s%s", family->name, has_hash ? "@" : "",
             has_hash ? family->hash : "");
    return buffer;
}

bool pdnn_model_is_known(const char *name, size_t length) {
    if (find_slot(name, length) != SIZE_MAX)
        return true;
    for (size_t i = 0; pdnn_family_name(i); i++)
        if (pdnn_family_has_preset(i, name, length))
            return true;
    return false;
}

/* ", did you mean 'rnn/cell=lstm'?", of a word that one hyper-parameter of one family may be. */
static void suggest_choice(char buffer[PDNN_SUGGESTION_TEXT], const char *name, bool in_yaml) {
    size_t count = 0;
    for (size_t i = 0; pdnn_family_at(i); i++)
        for (size_t k = 0; k < pdnn_family_at(i)->n_params; k++) {
            const struct pdnn_param_def *param = &pdnn_family_at(i)->params[k];
            for (const char *const *word = param->choices; word && *word; word++)
                if (pdnn_word_is_same(*word, name) && count++ == 0)
                    snprintf(buffer, PDNN_SUGGESTION_TEXT, ", did you mean '%s%s%s%s%s%s'?",
                             pdnn_family_at(i)->name, in_yaml ? ": {" : "/", param->name,
                             in_yaml ? ": " : "=", *word, in_yaml ? "}" : "");
        }
    if (count > 1)
        *buffer = 0;
}

/* Families, then presets; the caller frees them. */
static const char **model_names(size_t *count) {
    size_t most = 0;
    for (size_t i = 0; pdnn_family_at(i); i++)
        most += 1 + pdnn_family_at(i)->n_presets;
    const char **words = pdnn_alloc(most + 1, sizeof *words);
    *count = 0;
    for (size_t i = 0; pdnn_family_name(i); i++)
        words[(*count)++] = pdnn_family_name(i);
    for (size_t i = 0; pdnn_family_at(i); i++)
        for (size_t k = 0; k < pdnn_family_at(i)->n_presets; k++)
            words[(*count)++] = pdnn_family_at(i)->presets[k].name;
    return words;
}

/* Sizes of a network are numbers at the end of its name: resnet200 is near all that are called resnet. */
const char *pdnn_model_suggest(char buffer[PDNN_SUGGESTION_TEXT], const char *name, bool in_yaml) {
    char stem[64];
    size_t count;
    const char **words = model_names(&count);
    snprintf(stem, sizeof stem, "%.*s", (int)strcspn(name, "0123456789"), name);
    if (!*pdnn_suggest(buffer, name, words, count))
        suggest_choice(buffer, name, in_yaml);
    if (!*buffer && strlen(stem) >= 3)
        pdnn_suggest(buffer, stem, words, count);
    free(words);
    return buffer;
}

static enum pdnn_status unknown_model(const char *name, bool in_yaml, struct pdnn_err *err) {
    char buffer[PDNN_SUGGESTION_TEXT], here[PDNN_FAMILY_TEXT + 16] = "";
    const size_t length = strcspn(name, "@"), slot = name[length] ? find_slot(name, length) : SIZE_MAX;
    if (slot != SIZE_MAX && pdnn_family_at(slot)->hash)
        snprintf(here, sizeof here, ", here it is %s@%s", pdnn_family_at(slot)->name,
                 pdnn_family_at(slot)->hash);
    if (name[length])
        return pdnn_fail(
            err, PDNN_INVALID,
            "unknown model '%.80s'%s; the results that it came from keep it in families/%.80s.yaml", name,
            here, name);
    return pdnn_fail(err, PDNN_INVALID, "unknown model '%.60s'%s", name,
                     *pdnn_model_suggest(buffer, name, in_yaml) ? buffer : ", see 'paradnn families'");
}

/* "paper-min is a preset of fc and rnn, write fc:paper-min or rnn:paper-min" */
static enum pdnn_status several_models(const char *name, const struct pdnn_family_def *const *owners,
                                       size_t count, bool in_yaml, struct pdnn_err *err) {
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "%s is a preset of", name);
    for (size_t i = 0; i < count; i++)
        pdnn_str_printf(&text, "%s %s", i == 0 ? "" : i + 1 < count ? "," : " and", owners[i]->name);
    pdnn_str_printf(&text, ", write");
    for (size_t i = 0; i < count; i++)
        pdnn_str_printf(&text, "%s %s%s%s%s",
                        i == 0          ? ""
                        : i + 1 < count ? ","
                                        : " or",
                        owners[i]->name, in_yaml ? ": {preset: " : ":", name, in_yaml ? "}" : "");
    pdnn_fail(err, PDNN_INVALID, "%s", pdnn_str_text(&text));
    pdnn_str_finish(&text);
    return PDNN_INVALID;
}

enum pdnn_status pdnn_model_find(const char *name, bool in_yaml, struct pdnn_model_name *model,
                                 struct pdnn_err *err) {
    enum { OWNERS_MAX = 8 };
    const struct pdnn_family_def *owners[OWNERS_MAX];
    size_t count = 0;
    struct pdnn_model_name found = {.family = pdnn_family_find(name)};
    for (int own = 1; own >= 0 && !found.family && !count; own--)
        for (size_t i = 0; i < catalog.count && count < OWNERS_MAX; i++)
            if (catalog.slots[i].is_own == own && pdnn_family_has_preset(i, name, strlen(name)))
                owners[count++] = pdnn_family_at(i);
    if (count > 1)
        return several_models(name, owners, count, in_yaml, err);
    if (count)
        found = (struct pdnn_model_name){owners[0], pdnn_preset_find(owners[0], name)};
    if (!found.family)
        return unknown_model(name, in_yaml, err);
    *model = found;
    return PDNN_OK;
}

enum pdnn_status pdnn_preset_unknown(const struct pdnn_family_def *family, const char *name,
                                     struct pdnn_err *err) {
    const char **words = pdnn_alloc(family->n_presets + 1, sizeof *words);
    char buffer[PDNN_SUGGESTION_TEXT], elsewhere[PDNN_SUGGESTION_TEXT];
    for (size_t k = 0; k < family->n_presets; k++)
        words[k] = family->presets[k].name;
    const char *hint = pdnn_suggest(buffer, name, words, family->n_presets);
    free(words);
    snprintf(elsewhere, sizeof elsewhere, family->file ? ", see %.80s" : ", see 'paradnn families %.40s'",
             family->file ? family->file : family->name);
    for (size_t i = 0; !*hint && pdnn_family_at(i); i++) {
        for (size_t k = 0; k < pdnn_family_at(i)->n_presets; k++) {
            const char *preset = pdnn_family_at(i)->presets[k].name;
            if (pdnn_word_is_same(preset, name))
                return pdnn_fail(err, PDNN_INVALID, "%s has no preset '%.60s', did you mean '%s:%s'?",
                                 family->name, name, pdnn_family_at(i)->name, preset);
        }
    }
    return pdnn_fail(err, PDNN_INVALID, "%s has no preset '%.60s'%s", family->name, name,
                     *hint ? hint : elsewhere);
}
