#include "gen/expansion/instances.h"

#include "base/memory.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1024 };

/* The slot that holds the print, or the free one where it belongs. */
static struct pdnn_instance_print *locate(struct pdnn_instance_print *slots, size_t room,
                                          struct pdnn_instance_print print) {
    size_t at = print.a & (room - 1);
    while (slots[at].b && (slots[at].a != print.a || slots[at].b != print.b))
        at = (at + 1) & (room - 1);
    return &slots[at];
}

static enum pdnn_status grow(struct pdnn_instance_set *set, struct pdnn_err *err) {
    size_t room = set->room ? set->room * 2 : FIRST_ROOM;
    struct pdnn_instance_print *slots = pdnn_alloc(room, sizeof *slots);
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
    struct pdnn_instance_print print = pdnn_instance_print(instance);
    struct pdnn_instance_print *slot = locate(set->slots, set->room, print);
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
