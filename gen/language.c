#include "gen/language.h"

#include "base/str.h"
#include "models/zoo/catalog.h"
#include "models/instance.h"

#include <stdio.h>
#include <string.h>

const char pdnn_preset_key[] = "preset";

/* Tables that a key may belong to, and where they stand; a section stands under its name. */
#define PLACE(name, where) {&pdnn_##name##_keys, where},
static const struct {
    const struct pdnn_key_table *keys;
    const char *where;
} places[] = {PDNN_KEY_TABLES(PLACE)};

enum { PLACES = sizeof places / sizeof *places };

bool pdnn_key_is_top(const char *name) {
    return pdnn_key_find(places[0].keys, name);
}

const char *pdnn_key_section(const char *name) {
    for (size_t i = 0; i < PLACES; i++) {
        if (!places[i].where && pdnn_key_find(places[i].keys, name))
            return places[i].keys->name;
    }
    return pdnn_param_find(pdnn_settings, PDNN_SETTING_COUNT, name) >= 0 ? "run" : NULL;
}

static bool has_hyper(const struct pdnn_family_def *family, const char *name) {
    return pdnn_param_find(family->params, family->n_params, name) >= 0;
}

/* "fc", "fc and cnn", "gnmt, rnn and transformer": the families with such a hyper-parameter. */
static size_t list_owners(struct pdnn_str *out, const char *name) {
    size_t count = 0, listed = 0;
    for (size_t i = 0; pdnn_family_at(i); i++)
        count += has_hyper(pdnn_family_at(i), name);
    for (size_t i = 0; pdnn_family_at(i); i++) {
        if (!has_hyper(pdnn_family_at(i), name))
            continue;
        pdnn_str_printf(out, "%s%s",
                        !listed              ? ""
                        : listed + 1 < count ? ", "
                                             : " and ",
                        pdnn_family_at(i)->name);
        listed++;
    }
    return count;
}

bool pdnn_key_is_hyper(const char *name) {
    for (size_t i = 0; pdnn_family_at(i); i++) {
        if (has_hyper(pdnn_family_at(i), name))
            return true;
    }
    return false;
}

/* More owners are not told by name. */
enum { OWNERS_LISTED = 3 };

const char *pdnn_key_place(char buffer[PDNN_PLACE_TEXT], const char *name) {
    struct pdnn_str owners = {0};
    const char *section = pdnn_key_section(name);
    size_t at = 0, n_owners;
    while (at < PLACES && !(places[at].where && pdnn_key_find(places[at].keys, name)))
        at++;
    buffer[0] = 0;
    if (section)
        snprintf(buffer, PDNN_PLACE_TEXT, ", it belongs under %s", section);
    else if (at < PLACES)
        snprintf(buffer, PDNN_PLACE_TEXT, ", it belongs %s", places[at].where);
    else if (pdnn_model_is_known(name, strlen(name)))
        snprintf(buffer, PDNN_PLACE_TEXT, ", it is a model: write '- %.40s: {...}' under models", name);
    else if (strcmp(name, pdnn_preset_key) == 0)
        snprintf(buffer, PDNN_PLACE_TEXT, ", it belongs under a model's family");
    else if ((n_owners = list_owners(&owners, name)) > 0)
        snprintf(buffer, PDNN_PLACE_TEXT, ", it is a hyper-parameter of %.100s",
                 n_owners > OWNERS_LISTED ? "many families" : pdnn_str_text(&owners));
    pdnn_str_finish(&owners);
    return buffer;
}
