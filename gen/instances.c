#include "gen/instances.h"

#include "base/rng.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1024 };

static void mix(struct pdnn_fingerprint *print, int64_t value) {
    print->a = pdnn_rng_mix(print->a * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)value);
    print->b = pdnn_rng_mix((print->b ^ (uint64_t)value) * UINT64_C(0xd6e8feb86659fd93) + 1);
}

static void mix_value(struct pdnn_fingerprint *print, const struct pdnn_value *value) {
    mix(print, value->number);
    mix(print, value->n_more);
    for (int i = 0; i < value->n_more; i++)
        mix(print, value->more[i]);
}

static struct pdnn_fingerprint take(const struct pdnn_instance *instance) {
    struct pdnn_fingerprint print = {pdnn_rng_seed(1, instance->family->name),
                                     pdnn_rng_seed(2, instance->family->name)};
    for (size_t i = 0; i < instance->family->n_params; i++)
        mix_value(&print, &instance->hyper[i]);
    for (int s = 0; s < PDNN_SETTING_COUNT; s++)
        mix(&print, pdnn_setting_applies(instance, (enum pdnn_setting)s) ? instance->setting[s] : -1);
    print.b |= 1; /* so that it never looks like a free slot */
    return print;
}

/* The slot that holds the fingerprint, or the free one where it belongs. */
static struct pdnn_fingerprint *locate(struct pdnn_fingerprint *slots, size_t room,
                                       struct pdnn_fingerprint print) {
    size_t at = print.a & (room - 1);
    while (slots[at].b && (slots[at].a != print.a || slots[at].b != print.b))
        at = (at + 1) & (room - 1);
    return &slots[at];
}

static enum pdnn_status grow(struct pdnn_instance_set *set, struct pdnn_err *err) {
    size_t room = set->room ? set->room * 2 : FIRST_ROOM;
    struct pdnn_fingerprint *slots = calloc(room, sizeof *slots);
    if (!slots)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for %zu instances", set->count);
    for (size_t i = 0; i < set->room; i++)
        if (set->slots[i].b)
            *locate(slots, room, set->slots[i]) = set->slots[i];
    free(set->slots);
    set->slots = slots;
    set->room = room;
    return PDNN_OK;
}

enum pdnn_status pdnn_instance_set_add(struct pdnn_instance_set *set, const struct pdnn_instance *instance,
                                       bool *is_new, struct pdnn_err *err) {
    if (set->count * 2 >= set->room && grow(set, err) != PDNN_OK)
        return PDNN_NO_MEMORY;
    struct pdnn_fingerprint print = take(instance);
    struct pdnn_fingerprint *slot = locate(set->slots, set->room, print);
    *is_new = slot->b == 0;
    if (*is_new) {
        *slot = print;
        set->count++;
    }
    return PDNN_OK;
}

void pdnn_instance_set_finish(struct pdnn_instance_set *set) {
    free(set->slots);
    *set = (struct pdnn_instance_set){0};
}
