/* paradnn prune: what is dropped, and in which order files change. */
#define _POSIX_C_SOURCE 200809L
#include "session/prune.h"

#include "base/file.h"
#include "base/memory.h"
#include "gen/family/kept.h"
#include "results/query/results.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A journal that is not there would be made. */
static enum pdnn_status check_directory(const char *directory, struct pdnn_err *err) {
    const char *why = NULL;
    if (!pdnn_path_has(directory, "journal.csv") || !pdnn_path_has(directory, "spec.yaml"))
        why = "has no journal.csv and spec.yaml, as a sweep's directory has";
    if (pdnn_path_has(directory, "hosts.csv"))
        why = "was merged from several hosts; prune their directories and merge again";
    if (pdnn_path_has(directory, "parts"))
        why = "its journals are in parts/; merge them into a new directory and prune that";
    return why ? pdnn_fail(err, PDNN_INVALID, "%s: %s", directory, why) : PDNN_OK;
}

/* The session as on the machine that swept. */
static enum pdnn_status open_session(struct pdnn_prune *prune, struct pdnn_err *err) {
    const char *directory = prune->sweep.folder.path;
    char path[PDNN_FOLDER_TEXT], *environment;
    struct pdnn_session *session = &prune->session;
    pdnn_environment_read(directory, &environment, NULL);
    enum pdnn_status status =
        pdnn_session_open_there(session, environment ? environment : "", directory,
                                pdnn_folder_path(&prune->sweep.folder, "spec.yaml", path), err);
    free(environment);
    session->roof_rows = pdnn_alloc(1, sizeof *session->roof_rows);
    return status == PDNN_OK && pdnn_path_has(directory, "ceilings.csv")
               ? pdnn_roof_rows_read_in(directory, session->roof_rows, err)
               : status;
}

/* results.csv as it follows from the journal: the file may be behind. */
static enum pdnn_status make_table(struct pdnn_prune *prune, struct pdnn_results *table,
                                   struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT];
    const char *name = pdnn_folder_path(&prune->sweep.folder, "results.csv", path);
    struct pdnn_tables tables = {0};
    struct pdnn_rows_sums sums;
    enum pdnn_status status =
        pdnn_rows_of_visits(&prune->session, &prune->sweep.journal->known, false, &tables, &sums, err);
    if (status == PDNN_OK) {
        pdnn_tables_flush(&tables);
        status = pdnn_results_open(table, &name, 1, &tables.results_text, err);
    }
    pdnn_tables_finish(&tables);
    return status;
}

static enum pdnn_status choose(struct pdnn_prune *prune, const char *const *only, size_t n_only,
                               struct pdnn_err *err) {
    const struct pdnn_visits *visits = &prune->sweep.journal->known;
    struct pdnn_texts named = {0}, asked = {0};
    struct pdnn_results table;
    struct pdnn_row_list rows = {0};
    enum pdnn_status status = make_table(prune, &table, err);
    if (status != PDNN_OK)
        return status;
    status = pdnn_results_select(&table, only, n_only, &rows, err);
    for (size_t i = 0; i < rows.count; i++)
        pdnn_texts_add(&asked, pdnn_results_text(&table, rows.at[i], table.at[PDNN_RESULT_ID]));
    for (size_t i = 0; i < prune->session.n_tasks; i++)
        pdnn_texts_add(&named, prune->session.tasks[i].id);
    for (size_t i = 0; status == PDNN_OK && i < visits->ids.count; i++) {
        const char *text = visits->ids.text[i];
        const bool is_named = pdnn_texts_find(&named, text) != SIZE_MAX,
                   drops = !is_named && pdnn_texts_find(&asked, text) != SIZE_MAX;
        prune->kept += !drops;
        prune->spared += !is_named && !drops;
        prune->visits += drops ? visits->of[i].count : 0;
        if (drops)
            pdnn_texts_add(&prune->dropped, text);
    }
    pdnn_results_close(&table);
    pdnn_rows_finish(&rows);
    pdnn_texts_finish(&named);
    pdnn_texts_finish(&asked);
    return status;
}

enum pdnn_status pdnn_prune_open(struct pdnn_prune *prune, const char *directory, const char *const *only,
                                 size_t n_only, struct pdnn_err *err) {
    struct pdnn_sweep_directory *sweep = &prune->sweep;
    *prune = (struct pdnn_prune){.sweep = {.folder.fd = -1, .session = &prune->session}};
    if (pdnn_folder_open(&sweep->folder, directory, err) != PDNN_OK ||
        check_directory(directory, err) != PDNN_OK ||
        pdnn_journal_open(&sweep->folder, &sweep->journal, err) != PDNN_OK)
        return err->status;
    pdnn_folder_clean(&sweep->folder);
    return open_session(prune, err) == PDNN_OK ? choose(prune, only, n_only, err) : err->status;
}

/* Copies a file under a name with the date in it. */
static enum pdnn_status keep_aside(const struct pdnn_folder *folder, const char *stem, const char *date,
                                   char aside[PDNN_PRUNE_ASIDE], struct pdnn_err *err) {
    char path[PDNN_FOLDER_TEXT], name[PDNN_PRUNE_ASIDE], *text;
    size_t length;
    snprintf(name, sizeof name, "%s.csv", stem);
    if (pdnn_file_read(pdnn_folder_path(folder, name, path), SIZE_MAX >> 1, &text, &length, err) != PDNN_OK)
        return err->status;
    snprintf(name, sizeof name, "%s-%s.csv", stem, date);
    for (int number = 2; pdnn_path_has(folder->path, name); number++)
        snprintf(name, sizeof name, "%s-%s-%d.csv", stem, date, number);
    enum pdnn_status status = pdnn_folder_replace(folder, name, text, length, err);
    free(text);
    if (status == PDNN_OK)
        memcpy(aside, name, PDNN_PRUNE_ASIDE);
    return status;
}

static bool keeps(const void *user, const char *id) {
    const struct pdnn_prune *prune = user;
    return pdnn_texts_find(&prune->dropped, id) == SIZE_MAX;
}

/* "NAME@HASH" begins an id that stays, or one that the spec asks for. */
static bool names_family(const void *user, const char *name) {
    const struct pdnn_prune *prune = user;
    const struct pdnn_texts *ids = &prune->sweep.journal->known.ids;
    const size_t length = strlen(name);
    bool found = false;
    for (size_t i = 0; i < ids->count && !found; i++)
        found = strncmp(ids->text[i], name, length) == 0 && ids->text[i][length] == '/';
    for (size_t i = 0; i < prune->session.n_tasks && !found; i++)
        found = strncmp(prune->session.tasks[i].id, name, length) == 0 &&
                prune->session.tasks[i].id[length] == '/';
    return found;
}

enum pdnn_status pdnn_prune_commit(struct pdnn_prune *prune, struct pdnn_err *err) {
    const struct pdnn_folder *folder = &prune->sweep.folder;
    const time_t now = time(NULL);
    char date[32];
    struct tm utc;
    if (prune->dropped.count) {
        if (!gmtime_r(&now, &utc) || !strftime(date, sizeof date, "%Y-%m-%dT%H%M%SZ", &utc))
            return pdnn_fail(err, PDNN_IO, "the clock shows no date");
        if (keep_aside(folder, "journal", date, prune->aside[0], err) != PDNN_OK ||
            keep_aside(folder, "journal-ops", date, prune->aside[1], err) != PDNN_OK ||
            pdnn_journal_prune(&prune->sweep.journal, keeps, prune, err) != PDNN_OK)
            return err->status;
        pdnn_families_drop(folder, names_family, prune);
    }
    return pdnn_sweep_directory_write(&prune->sweep, err);
}

void pdnn_prune_close(struct pdnn_prune *prune) {
    pdnn_texts_finish(&prune->dropped);
    pdnn_session_finish(&prune->session);
    pdnn_sweep_directory_close(&prune->sweep);
}
