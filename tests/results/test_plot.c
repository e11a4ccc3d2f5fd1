/* The pictures: geometry and names by hand, what they must contain, and every way they can fail. */
#define _POSIX_C_SOURCE 200809L
#include "tests/cmocka_all.h"

#include "base/file.h"
#include "results/figures/picture.h"
#include "results/figures/chart.h"
#include "results/figures/color.h"
#include "results/figures/bars.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 256, LIMIT_BYTES = 1 << 24 };

static char directory[] = "/tmp/pdnn_test_plot'_XXXXXX"; /* with a quote, as a path may have */

static const char *const directories[] = {directory};

static const char *path_of(const char *name, char path[PATH_ROOM]) {
    snprintf(path, PATH_ROOM, "%s/%s", directory, name);
    return path;
}

static void write_text(const char *name, const char *text) {
    struct pdnn_err err = {0};
    char path[PATH_ROOM];
    assert_int_equal(pdnn_file_replace(path_of(name, path), text, strlen(text), &err), PDNN_OK);
}

#define HEADER                                                                                               \
    "id,family,mode,dtype,threads,batch,status,time_ns_median,intensity_flop_per_byte,gflops,bound,started_utc\n"

static const char results_text[] =
    HEADER "\"fc/a=1,b=2\",fc,infer,f32,2,1,ok,10,0.5,4,memory,2026-05-01T12:00:00.000Z\n"
           "b,fc,train,f32,2,64,ok,10,20,90,compute,2026-05-01T12:00:01.000Z\n"
           "c,fc,train,f32,2,,ok,10,9,90,it's,2026-05-01T12:00:01.000Z\n"
           "d,fc,train,f32,2,64,crash,,,,,2026-05-01T12:00:02.000Z\n"
           "e,fc,train,f32,1,64,ok,10,9,50,compute,2026-05-01T12:00:01.000Z\n";

static const char roofs_text[] =
    "kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions\n"
    "compute,fma,f32,,2,0,163.2,1,1,1\ncompute,gemm-onednn,f32,,2,0,148,1,1,1\n"
    "bandwidth,read,,DRAM,2,0,35.2,1,1,1\nbandwidth,copy,,L2,2,524288,181,1,1,1\n";

static int setup(void **state) {
    (void)state;
    strcpy(strrchr(directory, '_') + 1, "XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    write_text("results.csv", results_text);
    write_text("ceilings.csv", roofs_text);
    write_text("environment.yaml", "cpu: \"A Fast & \\\"New\\\" CPU\"\n");
    return 0;
}

static int teardown(void **state) {
    static const char *const names[] = {"results.csv",  "ceilings.csv", "environment.yaml", "roofline.svg",
                                        "roofline.png", "other.svg",    "ops.csv"};
    char path[PATH_ROOM];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i], path));
    return rmdir(directory);
}

static enum pdnn_status draw(const char *color, const char *output, const char *format,
                             struct pdnn_plot_result *result, struct pdnn_err *err) {
    const struct pdnn_plot_request request = {
        .directory = directories, .n_directories = 1, .color = color, .output = output, .format = format};
    return pdnn_picture_make(pdnn_plot_find("roofline"), &request, result, err);
}

static void test_plot_roofline_draws_both(void **state) {
    (void)state;
    static const char *const said[] = {"operational intensity (FLOP per byte of compulsory traffic)",
                                       "performance (GFLOP/s)",
                                       "FMA peak 163 GFLOP/s",
                                       "best GEMM (onednn) 148 GFLOP/s",
                                       "DRAM 35.2 GB/s (read)",
                                       "L2 90.5 GB/s (read)",
                                       "A Fast &amp; &quot;New&quot; CPU, 2 threads, f32, 2026-05-01",
                                       "1 of the models ran with other threads",
                                       "1 row without a rate left out",
                                       "4 models",
                                       ">bound<",
                                       "compute",
                                       "memory",
                                       "it&#39;s",
                                       "infer",
                                       "train"};
    struct pdnn_err err = {0};
    struct pdnn_plot_result result;
    char *text;
    size_t length;
    assert_int_equal(draw(NULL, NULL, NULL, &result, &err), PDNN_OK);
    assert_string_equal(err.text, "");
    assert_int_equal(result.n_paths, pdnn_has_cairo ? 2 : 1);
    assert_int_equal(result.drawn, 4);
    assert_int_equal(result.left_out, 1);
    assert_int_equal(pdnn_file_read(result.path[0], LIMIT_BYTES, &text, NULL, &err), PDNN_OK);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (!strstr(text, said[i]))
            fail_msg("the picture does not say '%s'", said[i]);
    }
    free(text);
    if (!pdnn_has_cairo)
        return;
    assert_int_equal(pdnn_file_read(result.path[1], LIMIT_BYTES, &text, &length, &err), PDNN_OK);
    assert_true(length > 1000 && memcmp(text, "\x89PNG", 4) == 0);
    free(text);
}

static void expect_texts(const char *path, const char *const *said, size_t count) {
    struct pdnn_err err = {0};
    char *text;
    assert_int_equal(pdnn_file_read(path, LIMIT_BYTES, &text, NULL, &err), PDNN_OK);
    for (size_t i = 0; i < count; i++) {
        if (!strstr(text, said[i]))
            fail_msg("the picture does not say '%s'", said[i]);
    }
    free(text);
}

static void draw_ceilings(int rows, const char *const *said, size_t count) {
    const struct pdnn_plot_request request = {.directory = directories, .n_directories = 1, .format = "svg"};
    struct pdnn_err err = {0};
    struct pdnn_plot_result result;
    enum pdnn_status status = pdnn_picture_make(pdnn_plot_find("ceilings"), &request, &result, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(status, PDNN_OK);
    assert_int_equal(result.n_paths, 1);
    assert_int_equal(result.drawn, rows);
    expect_texts(result.path[0], said, count);
    assert_int_equal(unlink(result.path[0]), 0);
}

/* Files from before there was a ladder show their levels. */
static void test_plot_roof_rows_without_a_ladder(void **state) {
    (void)state;
    static const char *const said[] = {"A Fast &amp; &quot;New&quot; CPU",
                                       "2 threads",
                                       "bandwidth (GB/s)",
                                       "arithmetic (GFLOP/s)",
                                       "f32  fma",
                                       "f32  gemm-onednn",
                                       "L2: 181 GB/s",
                                       "holds 512 KiB",
                                       "DRAM: 35.2 GB/s",
                                       ">163<"};
    draw_ceilings(4, said, sizeof said / sizeof *said);
}

/* One row of panels per thread count, a line per pattern and kind of store, each level with what it was found
 * to hold and what is reported. */
static void test_plot_roof_rows(void **state) {
    (void)state;
    static const char *const said[] = {"1 thread: calling an operator takes 250 ns",
                                       "2 threads",
                                       "working set of all threads together",
                                       "triad-streaming",
                                       "copy",
                                       "L1: 500 GB/s",
                                       "holds 57.0 KiB",
                                       "reported 48.0 KiB",
                                       "DRAM: 60 GB/s",
                                       "int8  avx512_vnni",
                                       ">1790<",
                                       "64 KiB"};
    write_text("ceilings.csv",
               "kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions,median,"
               "reported_bytes\n"
               "compute,fma,f32,,1,0,250,240,250,9,245,0\ncompute,fma,f32,,2,0,490,240,490,9,245,0\n"
               "compute,avx512_vnni,int8,,2,0,1790,900,1790,9,1000,0\n"
               "bandwidth,read,,L1,1,58368,500,490,500,9,495,49152\n"
               "bandwidth,copy,,DRAM,1,0,60,50,60,9,55,0\noverhead,op,,,1,0,250,250,280,9,260,0\n"
               "ladder,read,,L1,1,16384,500,490,500,9,495,0\nladder,read,,DRAM,1,262144,40,30,40,9,35,0\n"
               "ladder,copy,,DRAM,1,262144,30,30,30,9,30,0\n"
               "ladder,copy-streaming,,DRAM,1,262144,60,50,60,9,55,0\n"
               "ladder,triad-streaming,,DRAM,1,262144,55,50,55,9,55,0\n");
    draw_ceilings(10, said, sizeof said / sizeof *said);
    write_text("ceilings.csv", roofs_text);
}

/* The peak of every dtype that occurs has its line, labelled with the dtype. */
static void test_plot_roofline_of_two_dtypes(void **state) {
    (void)state;
    static const char *const said[] = {"int8 best GEMM (onednn) 311 GFLOP/s", "f32 FMA peak 163 GFLOP/s",
                                       "f32 best GEMM (onednn) 148 GFLOP/s", "2 threads, f32, int8"};
    struct pdnn_err err = {0};
    struct pdnn_plot_result result;
    char both[1024], *text;
    snprintf(both, sizeof both, "%s%s", results_text, "f,fc,infer,int8,2,64,ok,10,20,200,compute,\n");
    write_text("results.csv", both);
    snprintf(both, sizeof both, "%s%s", roofs_text, "compute,gemm-onednn,int8,,2,0,311,1,1,1\n");
    write_text("ceilings.csv", both);
    assert_int_equal(draw(NULL, NULL, "svg", &result, &err), PDNN_OK);
    write_text("results.csv", results_text);
    write_text("ceilings.csv", roofs_text);
    assert_string_equal(err.text, "");
    assert_int_equal(pdnn_file_read(result.path[0], LIMIT_BYTES, &text, NULL, &err), PDNN_OK);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (!strstr(text, said[i]))
            fail_msg("the picture does not say '%s'", said[i]);
    }
    free(text);
}

/* Numbers, one of them missing, and the requested file name. */
static void test_plot_roofline_color_and_output(void **state) {
    (void)state;
    struct pdnn_err err = {0};
    struct pdnn_plot_result result;
    char path[PATH_ROOM], *text;
    assert_int_equal(draw("batch", path_of("other.png", path), "svg", &result, &err), PDNN_OK);
    assert_string_equal(err.text, "");
    assert_int_equal(result.n_paths, 1);
    assert_string_equal(result.path[0], path_of("other.svg", path));
    assert_int_equal(pdnn_file_read(path, LIMIT_BYTES, &text, NULL, &err), PDNN_OK);
    assert_non_null(strstr(text, ">batch<"));
    free(text);
}

static void test_plot_roofline_refuses(void **state) {
    (void)state;
    static const struct {
        const char *results, *roof_rows, *color, *message;
    } rows[] = {
        {results_text, roofs_text, "bach", "results.csv has no column 'bach', did you mean 'batch'?"},
        {"id,family,status,time_ns_median,gflops\n1,fc,ok,1,2\n", roofs_text, NULL,
         "results.csv has no column 'intensity_flop_per_byte'"},
        {HEADER, roofs_text, NULL, ": no row has a rate to draw"},
        {results_text, "kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions\n", NULL,
         "ceilings.csv has no roofs for f32 on 2 threads"},
        {results_text, "nothing", NULL, "ceilings.csv:1: there is no column 'kind'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_err err = {0};
        struct pdnn_plot_result result;
        write_text("results.csv", rows[i].results);
        write_text("ceilings.csv", rows[i].roof_rows);
        assert_int_equal(draw(rows[i].color, NULL, "svg", &result, &err), PDNN_INVALID);
        if (!strstr(err.text, rows[i].message))
            fail_msg("'%s' lacks '%s'", err.text, rows[i].message);
    }
}

static void test_plot_roofline_unwritable_output(void **state) {
    (void)state;
    struct pdnn_err err = {0};
    struct pdnn_plot_result result;
    enum pdnn_status status = draw(NULL, "/nonexistent/picture", "tex", &result, &err);
    assert_int_equal(status, PDNN_INVALID);
    assert_string_equal(err.text, "/nonexistent/picture.tex: cannot be written: No such file or directory");
}

/* The old picture stays until the new one is complete. */
static void test_plot_that_fails_leaves_the_old_picture(void **state) {
    (void)state;
    struct pdnn_err err = {0};
    struct pdnn_plot_result result;
    char path[PATH_ROOM], *text;
    write_text("roofline.svg", "the old picture");
    assert_int_equal(draw("bach", NULL, "svg", &result, &err), PDNN_INVALID);
    assert_int_equal(pdnn_file_read(path_of("roofline.svg", path), LIMIT_BYTES, &text, NULL, &err), PDNN_OK);
    assert_string_equal(text, "the old picture");
    free(text);
}

/* The extension is the format; lengths and sizes are checked. */
static void test_plot_page(void **state) {
    (void)state;
    static const struct {
        const char *width, *message;
    } bad[] = {{"85", "--width 85: a length has a unit"},
               {"mm", "--width mm: a length has a unit"},
               {"8xmm", "--width 8xmm: a length has a unit"},
               {"1mm", "--width 1mm: a picture is between 40mm and 1050mm"}};
    char path[PATH_ROOM], *text;
    struct pdnn_plot_request request = {
        .directory = directories, .n_directories = 1, .output = path_of("other.tex", path)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pdnn_err err = {0};
        struct pdnn_plot_result result;
        request.width = bad[i].width;
        assert_int_equal(pdnn_picture_make(pdnn_plot_find("roofline"), &request, &result, &err),
                         PDNN_INVALID);
        if (!strstr(err.text, bad[i].message))
            fail_msg("'%s' lacks '%s'", err.text, bad[i].message);
    }
    struct pdnn_err err = {0};
    struct pdnn_plot_result result;
    request.width = "85mm";
    request.font_size = 8;
    assert_int_equal(pdnn_picture_make(pdnn_plot_find("roofline"), &request, &result, &err), PDNN_OK);
    assert_string_equal(result.path[0], path);
    assert_int_equal(pdnn_file_read(path, LIMIT_BYTES, &text, NULL, &err), PDNN_OK);
    assert_non_null(strstr(text, "\\begin{pgfpicture}"));
    assert_non_null(strstr(text, "{\\pgfqpoint{241.8")); /* 85 mm in points of TeX */
    free(text);
    unlink(path);
}

/* A link in a result directory may come from somebody else; a link that the user names is meant. */
static void test_plot_and_links(void **state) {
    (void)state;
    static const char *const outputs[] = {NULL, "roofline"};
    char target[PATH_ROOM], link[PATH_ROOM], named[PATH_ROOM];
    path_of("other.svg", target);
    path_of("roofline.svg", link);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        struct pdnn_err err = {0};
        struct pdnn_plot_result result;
        struct stat info;
        char *text;
        write_text("other.svg", "kept");
        unlink(link);
        assert_int_equal(symlink(target, link), 0);
        assert_int_equal(draw(NULL, outputs[i] ? path_of(outputs[i], named) : NULL, "svg", &result, &err),
                         PDNN_OK);
        assert_string_equal(err.text, "");
        assert_int_equal(lstat(link, &info), 0);
        assert_int_equal(S_ISLNK(info.st_mode), outputs[i] != NULL);
        assert_int_equal(pdnn_file_read(target, LIMIT_BYTES, &text, NULL, &err), PDNN_OK);
        assert_int_equal(strcmp(text, "kept") == 0, outputs[i] == NULL);
        free(text);
    }
}

/* A reader sees the text and nothing else. */
static void test_canvas_escapes(void **state) {
    (void)state;
    struct pdnn_canvas canvas = {.width = 100, .height = 50};
    struct pdnn_str svg = {0}, tex = {0};
    pdnn_draw_text(&canvas, 1, 2, (struct pdnn_font){12, 0, PDNN_START, 0}, "<a&b>\\x{1}\n\x1b\xff %$#_^~|");
    pdnn_canvas_svg(&canvas, 1, &svg);
    pdnn_canvas_tex(&canvas, 1, &tex);
    assert_non_null(strstr(pdnn_str_text(&svg), ">&lt;a&amp;b&gt;\\x{1}??? %$#_^~|</text>"));
    assert_non_null(strstr(pdnn_str_text(&tex),
                           "\\textless{}a\\&b\\textgreater{}\\textbackslash{}x\\{1\\}??? "
                           "\\%\\$\\#\\_\\textasciicircum{}\\textasciitilde{}\\textbar{}}"));
    pdnn_str_finish(&svg);
    pdnn_str_finish(&tex);
    pdnn_arena_finish(&canvas.arena);
}

/* Every point has its row, in order. */
static void test_canvas_points_have_rows(void **state) {
    (void)state;
    static const struct pdnn_spot spots[] = {{1, 1}, {2, 2}, {3, 3}, {4.25, 4}};
    static const size_t rows[] = {4, 5, 6, 9};
    struct pdnn_canvas canvas = {.width = 100, .height = 50};
    struct pdnn_str svg = {0};
    pdnn_draw_points(&canvas, spots, rows, 4,
                     (struct pdnn_mark){PDNN_SQUARE, 3, {0x0072b2, PDNN_NO_INK, 0, 0}, true});
    pdnn_canvas_svg(&canvas, 1, &svg);
    assert_non_null(strstr(pdnn_str_text(&svg), " data-rows=\"4-6 9\" "));
    assert_non_null(strstr(pdnn_str_text(&svg), " d=\"M1 49 2 48 3 47 4.3 46\""));
    pdnn_str_finish(&svg);
    pdnn_arena_finish(&canvas.arena);
}

/* A bound has its color whatever else there is; other words have theirs by how often they are met. */
static void test_bounds_keep_their_colors(void **state) {
    (void)state;
    static const struct pdnn_color_cell all[] = {{"memory", NAN},
                                                 {"memory", NAN},
                                                 {"compute", NAN},
                                                 {"overhead", NAN}},
                                        one[] = {{"overhead", NAN}},
                                        other[] = {
                                            {"x", NAN}, {"x", NAN}, {"memory", NAN}, {"y", NAN}, {"z", NAN}};
    struct pdnn_look first[4], second[1], third[5];
    struct pdnn_color_key key;
    struct pdnn_arena arena = {0};
    pdnn_plot_color(all, 4, &arena, first, &key);
    pdnn_plot_color(one, 1, &arena, second, &key);
    assert_int_equal(first[3].ink, second[0].ink);
    assert_int_equal(first[3].symbol, second[0].symbol);
    assert_true(first[0].ink != first[2].ink && first[2].ink != first[3].ink);
    pdnn_plot_color(other, 5, &arena, third, &key);
    assert_int_equal(third[0].ink, pdnn_plot_distinct_color[0]);
    for (size_t i = 0; i < key.n_words; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(key.word[i].look.ink != key.word[k].look.ink);
    pdnn_arena_finish(&arena);
}

static const struct pdnn_frame frame = {1000, 1000, {0.1, 10, 100, 900, 10}, {1, 100, 100, 500, 10}};

static void test_frame_to_pixels(void **state) {
    (void)state;
    struct pdnn_spot middle = pdnn_frame_to_pixels(&frame, (struct pdnn_spot){1, 10});
    assert_true(fabs(middle.x - 500) < 1e-9 && fabs(middle.y - 300) < 1e-9);
    /* 400 pixels per decade against 200. */
    assert_true(fabs(pdnn_frame_angle(&frame) - atan2(200, 400)) < 1e-9);
}

static void test_frame_place_avoids_points_and_labels(void **state) {
    (void)state;
    struct pdnn_spot low = {100, 100}, high = {900, 500}, points[200];
    struct pdnn_label labels[2] = {{{0, 0}, 100, 16}, {{0, 0}, 100, 16}};
    /* Points along the whole line except for one stretch. */
    size_t n = 0;
    for (int i = 0; i < 200; i++) {
        double t = i / 199.0;
        if (t < 0.2 || t > 0.4)
            points[n++] = (struct pdnn_spot){100 + 800 * t, 100 + 400 * t};
    }
    pdnn_frame_place(&frame, low, high, points, n, labels, 0);
    double t = (labels[0].center.x - 100) / 800;
    assert_true(fabs(labels[0].center.y - (100 + 400 * t)) < 1e-6);
    assert_true(t > 0.27 && t < 0.33);
    /* A second label on the same line goes elsewhere, even on top of points. */
    pdnn_frame_place(&frame, low, high, points, n, labels, 1);
    double between = hypot(labels[0].center.x - labels[1].center.x, labels[0].center.y - labels[1].center.y);
    assert_true(between > 100);
}

static const struct pdnn_item *find_text(const struct pdnn_canvas *canvas, const char *text) {
    for (size_t i = 0; i < canvas->n_items; i++)
        if (canvas->item[i].kind == PDNN_ITEM_TEXT && strcmp(canvas->item[i].text, text) == 0)
            return &canvas->item[i];
    fail_msg("there is no text '%s'", text);
    return NULL;
}

/* Three bars in two sets, with slots of 45 pixels. */
static struct pdnn_bars make_bars(struct pdnn_canvas *canvas, struct pdnn_bar *bar, const char **sets) {
    struct pdnn_bars bars = {
        .canvas = canvas, .bar = bar, .set = sets, .n_bars = 3, .n_sets = 2, .part = 0.7};
    *canvas = (struct pdnn_canvas){.width = 500, .height = 300};
    pdnn_bars_place(&bars, PDNN_BARS_LEFT, 45);
    return bars;
}

/* Two lines for the first set: its items do not fit on one. */
static void test_bar_names_in_lines(void **state) {
    (void)state;
    struct pdnn_bar bar[] = {{.text = "4"}, {.text = "16"}, {.text = "32", .set = 1}};
    const char *sets[] = {"length=128, fuse=none", "length=512"};
    struct pdnn_canvas canvas;
    struct pdnn_bars bars = make_bars(&canvas, bar, sets);
    assert_true(fabs(pdnn_bars_slot_pixels(&bars) - 45) < 1e-9);
    assert_false(pdnn_bars_are_long(&bars, 0));
    const double bottom = pdnn_bars_put(&bars, 0, "", "");
    const struct pdnn_item *four = find_text(&canvas, "4"), *length = find_text(&canvas, "length=128");
    assert_true(fabs(four->spot->x - PDNN_BARS_LEFT - 22.5) < 1e-9 && four->spot->y < bottom);
    assert_true(fabs(find_text(&canvas, "32")->spot->x - four->spot->x - 2.7 * 45) < 1e-9);
    assert_true(fabs(length->spot->x - four->spot->x - 22.5) < 1e-9);
    assert_true(length->spot->y < four->spot->y && length->font.degrees == 0);
    assert_true(find_text(&canvas, "fuse=none")->spot->y < length->spot->y);
    assert_true(find_text(&canvas, "length=512")->font.degrees == 0);
    pdnn_arena_finish(&canvas.arena);
}

/* Names of bars that have no room in lines stand upright; those of their sets lie below if they have room. */
static void test_bar_names_upright_above_sets(void **state) {
    (void)state;
    struct pdnn_bar bar[] = {
        {.text = "train, openblas"}, {.text = "train, onednn"}, {.text = "all", .set = 1}};
    const char *sets[] = {"transformer", "fc"};
    struct pdnn_canvas canvas;
    struct pdnn_bars bars = make_bars(&canvas, bar, sets);
    bar[0].text = "train-bfloat16, openblas";
    pdnn_bars_put(&bars, 0, "", "");
    assert_true(find_text(&canvas, "train-bfloat16, openblas")->font.degrees == 90);
    assert_true(find_text(&canvas, "transformer")->font.degrees == 0);
    pdnn_arena_finish(&canvas.arena);
}

/* One set has no room for its name: then every bar's name includes its set's, however long. */
static void test_bar_names_upright(void **state) {
    (void)state;
    struct pdnn_bar bar[] = {{.text = "4"}, {.text = "16"}, {.text = "32", .set = 1}};
    const char *sets[] = {"length=128, fuse=none", "objective=masked-lm, optimizer=lamb, qkv=separate"};
    struct pdnn_canvas canvas;
    struct pdnn_bars bars = make_bars(&canvas, bar, sets);
    const char *longest = "32, objective=masked-lm, optimizer=lamb, qkv=separate";
    const double length = pdnn_text_width(longest, PDNN_FONT_SMALL);
    assert_true(pdnn_bars_are_long(&bars, length - 1) && !pdnn_bars_are_long(&bars, length));
    const double bottom = pdnn_bars_put(&bars, 0, "", "");
    assert_true(find_text(&canvas, "4, length=128, fuse=none")->font.degrees == 90);
    assert_true(find_text(&canvas, longest)->spot->y - length >= 0 && bottom > length);
    pdnn_arena_finish(&canvas.arena);
}

static void test_draw_caption(void **state) {
    (void)state;
    struct pdnn_canvas canvas = {.width = 300, .height = 100};
    assert_true(pdnn_draw_caption(&canvas, 10, 8, "one, two") == 18);
    assert_true(
        pdnn_draw_caption(&canvas, 10, 8, "one two three four five six seven eight nine ten eleven") == 36);
    assert_true(pdnn_draw_caption(&canvas, 10, 8, "") == 0);
    assert_true(find_text(&canvas, "one, two")->spot->y == 17);
    assert_int_equal(canvas.n_items, 3);
    for (size_t i = 0; i < canvas.n_items; i++)
        assert_true(pdnn_text_width(canvas.item[i].text, PDNN_FONT_SMALL) <= 282);
    assert_true(canvas.item[1].spot->y == 35 && canvas.item[2].spot->y == 17);
    pdnn_arena_finish(&canvas.arena);
}

/* Ticks of any range and room stay apart. */
static void test_ticks_are_apart(void **state) {
    (void)state;
    static const double lows[] = {1e-9, 0.003, 0.9, 1, 7, 1000, 123456, 2e9},
                        spans[] = {1.02, 1.5, 3, 12, 150, 1e4, 1e9};
    for (size_t i = 0; i < sizeof lows / sizeof *lows; i++)
        for (size_t k = 0; k < sizeof spans / sizeof *spans; k++)
            for (int base = 0; base <= 10; base += base ? 8 : 2) {
                struct pdnn_canvas canvas = {.width = 460, .height = 300};
                const struct pdnn_frame_axis x = {.scale = {lows[i], lows[i] * spans[k], 60, 400, base}},
                                             y = {.scale = {lows[i], lows[i] * spans[k], 60, 200, base}};
                double right = -INFINITY, top = -INFINITY;
                size_t level = 0, upright = 0;
                pdnn_draw_frame(&canvas, &x, &y);
                for (size_t n = 0; n < canvas.n_items; n++) {
                    const struct pdnn_item *item = &canvas.item[n];
                    double half =
                        item->kind == PDNN_ITEM_TEXT ? pdnn_text_width(item->text, item->font.size) / 2 : 0;
                    if (item->kind == PDNN_ITEM_TEXT && item->font.anchor == PDNN_MIDDLE) {
                        assert_true(item->spot->x - half > right);
                        right = item->spot->x + half;
                        level++;
                    } else if (item->kind == PDNN_ITEM_TEXT) {
                        assert_true(item->spot->y - item->font.size / 2 > top);
                        top = item->spot->y + item->font.size / 2;
                        upright++;
                    }
                }
                if (!level || !upright)
                    fail_msg("%g x %g base %d: %zu and %zu ticks", lows[i], spans[k], base, level, upright);
                pdnn_arena_finish(&canvas.arena);
            }
}

static const char keyed_text[] = "id,family,batch,status,time_ns_median\na,fc,4,ok,100\n";

static void test_plot_breakdown_refuses(void **state) {
    (void)state;
    static const char *const none[] = {"batch=5"};
    static const struct {
        struct pdnn_plot_request request;
        const char *results, *message;
    } rows[] = {
        {{.by = "gruop"}, keyed_text, "did you mean 'group'?"},
        {{.across = "bach"}, keyed_text, "did you mean 'batch'?"},
        {{.only = none, .n_only = 1}, keyed_text, "no instance that ended ok has all the values asked for"},
        {{.by = "pass"}, "id,family,status,time_ns_median\na,fc,crash,\n", "no instance that ended ok"},
        {{.by = "pass"}, "id,family,batch\n", "there is no column 'status'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_plot_request request = rows[i].request;
        struct pdnn_plot_result result;
        struct pdnn_err err = {0};
        request.directory = directories;
        request.n_directories = 1;
        write_text("results.csv", rows[i].results);
        write_text("ops.csv", "id,op,category,executions,time_ns_median,pct_of_roof\n");
        assert_int_equal(pdnn_picture_make(pdnn_plot_find("breakdown"), &request, &result, &err),
                         PDNN_INVALID);
        if (!strstr(err.text, rows[i].message))
            fail_msg("'%s' lacks '%s'", err.text, rows[i].message);
    }
}

/* Lines are no wider than they may be, unless they are one letter, end between letters, and leave nothing
 * out. */
static void test_lines_are_the_whole_text(void **state) {
    (void)state;
    static const char text[] =
        "a\xc3\xa4\xe2\x82\xac b\xf0\x9f\x99\x82 long enough for several lines, it seems";
    const struct pdnn_font font = {.size = 10};
    for (double width = 0; width < 400; width += 3) {
        struct pdnn_canvas canvas = {.width = 100, .height = 100};
        struct pdnn_str all = {0};
        const size_t count = pdnn_draw_lines(&canvas, 0, 0, width, font, text);
        assert_int_equal(count, canvas.n_items);
        assert_true(pdnn_lines_more(width, font, text) == 14.0 * (double)(count - 1));
        for (size_t i = 0; i < count; i++) {
            const char *line = canvas.item[i].text;
            const bool is_letter = strlen(line) == 1 || (line[1] & 0xc0) == 0x80;
            assert_true((line[0] & 0xc0) != 0x80 && (is_letter || pdnn_text_width(line, 10) <= width));
            const bool has_space = text[all.length] == ' ';
            pdnn_str_printf(&all, "%s%s", has_space ? " " : "", line);
        }
        assert_string_equal(pdnn_str_text(&all), text);
        assert_int_equal(pdnn_text_width(text, 10) <= width, count == 1);
        pdnn_str_finish(&all);
        pdnn_arena_finish(&canvas.arena);
    }
    assert_true(fabs(pdnn_text_width("GFLOP/s", 10) - 41.68) < 0.02);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plot_roofline_draws_both, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_roof_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_roof_rows_without_a_ladder, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_roofline_of_two_dtypes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_roofline_color_and_output, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_roofline_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_page, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_roofline_unwritable_output, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_breakdown_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_that_fails_leaves_the_old_picture, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_and_links, setup, teardown),
        cmocka_unit_test(test_canvas_escapes),
        cmocka_unit_test(test_canvas_points_have_rows),
        cmocka_unit_test(test_bounds_keep_their_colors),
        cmocka_unit_test(test_ticks_are_apart),
        cmocka_unit_test(test_bar_names_in_lines),
        cmocka_unit_test(test_bar_names_upright),
        cmocka_unit_test(test_draw_caption),
        cmocka_unit_test(test_lines_are_the_whole_text),
        cmocka_unit_test(test_bar_names_upright_above_sets),
        cmocka_unit_test(test_frame_to_pixels),
        cmocka_unit_test(test_frame_place_avoids_points_and_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
