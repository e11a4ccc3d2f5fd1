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

static void grow(struct pdnn_instance_set *set) {
    size_t room = set->room ? set->room * 2 : FIRST_ROOM;
    struct pdnn_instance_print *slots = pdnn_alloc(room, sizeof *slots);
    for (size_t i = 0; i < set->room; i++)
        if (set->slots[i].b)
            *locate(slots, room, set->slots[i]) = set->slots[i];
    free(set->slots);
    set->slots = slots;
    set->room = room;
}

bool pdnn_instance_set_add(struct pdnn_instance_set *set, const struct pdnn_instance *instance) {
    if (set->count * 2 >= set->room)
        grow(set);
    struct pdnn_instance_print print = pdnn_instance_print(instance);
    struct pdnn_instance_print *slot = locate(set->slots, set->room, print);
    const bool is_new = slot->b == 0;
    if (is_new) {
        *slot = print;
        set->count++;
    }
    return is_new;
}

bool pdnn_instance_set_has(const struct pdnn_instance_set *set, const struct pdnn_instance *instance) {
    return set->room && locate(set->slots, set->room, pdnn_instance_print(instance))->b;
}

void pdnn_instance_set_finish(struct pdnn_instance_set *set) {
    free(set->slots);
    *set = (struct pdnn_instance_set){0};
}
