#define _GNU_SOURCE /* dl_iterate_phdr */
#include "runtime/backend/library_build.h"

#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct search {
    uintptr_t datum;
    char *text;
};

/* Where a segment is in memory. */
static const unsigned char *start_of(const struct dl_phdr_info *object, size_t segment) {
    return (const unsigned char *)(uintptr_t)(object->dlpi_addr + object->dlpi_phdr[segment].p_vaddr);
}

/* From a segment of notes: headers with their names and descriptions, each padded to 4 bytes. */
static bool read_id(const unsigned char *at, size_t length, char *text) {
    enum { DIGITS = 12 };
    const unsigned char *end = at + length;
    ElfW(Nhdr) note;
    for (size_t name, id; (size_t)(end - at) > sizeof note; at += name + id) {
        memcpy(&note, at, sizeof note);
        at += sizeof note;
        name = (note.n_namesz + 3) & ~(size_t)3;
        id = (note.n_descsz + 3) & ~(size_t)3;
        if (name + id > (size_t)(end - at))
            return false;
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || memcmp(at, "GNU", 4) != 0 ||
            note.n_descsz < DIGITS / 2)
            continue;
        for (size_t i = 0; i < DIGITS / 2; i++)
            snprintf(text + 2 * i, 3, "%02x", at[name + i]);
        return true;
    }
    return false;
}

static bool is_in(const struct dl_phdr_info *object, uintptr_t datum) {
    bool is_here = false;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        is_here = is_here ||
                  (segment->p_type == PT_LOAD && datum - (uintptr_t)start_of(object, i) < segment->p_memsz);
    }
    return is_here;
}

static int look(struct dl_phdr_info *object, size_t size, void *user) {
    const struct search *search = user;
    const bool is_here = is_in(object, search->datum);
    bool has_id = false;
    uint64_t sum = UINT64_C(14695981039346656037); /* FNV-1a */
    (void)size;
    for (size_t i = 0; i < object->dlpi_phnum && is_here && !has_id; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        has_id = segment->p_type == PT_NOTE && read_id(start_of(object, i), segment->p_memsz, search->text);
    }
    for (size_t i = 0; i < object->dlpi_phnum && is_here && !has_id; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const bool is_code = segment->p_type == PT_LOAD && (segment->p_flags & PF_X);
        for (size_t byte = 0; is_code && byte < segment->p_filesz; byte++)
            sum = (sum ^ start_of(object, i)[byte]) * UINT64_C(1099511628211);
    }
    if (is_here && !has_id)
        snprintf(search->text, PDNN_LIBRARY_BUILD_TEXT, "%016" PRIx64, sum);
    return is_here;
}

const char *pdnn_library_build(const void *datum, char text[PDNN_LIBRARY_BUILD_TEXT]) {
    struct search search = {(uintptr_t)datum, text};
    text[0] = 0;
    dl_iterate_phdr(look, &search);
    return text;
}

struct path_search {
    uintptr_t datum;
    char *text;
    size_t room;
};

static int look_for_path(struct dl_phdr_info *object, size_t size, void *user) {
    const struct path_search *search = user;
    (void)size;
    if (!is_in(object, search->datum))
        return 0;
    if (strlen(object->dlpi_name) < search->room)
        snprintf(search->text, search->room, "%s", object->dlpi_name);
    return 1;
}

const char *pdnn_library_path(const void *datum, char *text, size_t room) {
    struct path_search search = {(uintptr_t)datum, text, room};
    text[0] = 0;
    dl_iterate_phdr(look_for_path, &search);
    return text;
}
