/* The pictures: geometry and names by hand, what they must contain, and every way they can fail. */
#define _POSIX_C_SOURCE 200809L
#include "tests/cmocka_all.h"

#include "base/file.h"
#include "results/figures/gnuplot.h"
#include "results/figures/plot.h"
#include "results/figures/frame.h"
#include "results/figures/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 256, LIMIT_BYTES = 1 << 24 };

static char directory[] = "/tmp/pdnn_test_plot'_XXXXXX"; /* with a quote: gnuplot must not trip over it */

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

static const char ceilings_text[] =
    "kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions\n"
    "compute,fma,f32,,2,0,163.2,1,1,1\ncompute,gemm-onednn,f32,,2,0,148,1,1,1\n"
    "bandwidth,read,,DRAM,2,0,35.2,1,1,1\nbandwidth,copy,,L2,2,524288,181,1,1,1\n";

static int setup(void **state) {
    (void)state;
    strcpy(strrchr(directory, '_') + 1, "XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    write_text("results.csv", results_text);
    write_text("ceilings.csv", ceilings_text);
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

/* PDNN_UNSUPPORTED skips the test: gnuplot is not needed to build. */
static enum pdnn_status draw(const char *color, const char *output, enum pdnn_plot_format format,
                             struct pdnn_plot_result *result, struct pdnn_err *err) {
    const struct pdnn_plot_request request = {
        .directory = directories, .n_directories = 1, .color = color, .output = output, .format = format};
    return pdnn_plot_find("roofline")->draw(&request, result, err);
}

static void test_plot_roofline_draws_both(void **state) {
    (void)state;
    static const char *const said[] = {"operational intensity (FLOP per byte of compulsory traffic)",
                                       "performance (GFLOP/s)",
                                       "FMA peak 163 GFLOP/s",
                                       "best GEMM (onednn) 148 GFLOP/s",
                                       "DRAM 35.2 GB/s (read)",
                                       "L2 181 GB/s (copy)",
                                       "A Fast &amp; \"New\" CPU, 2 threads, f32, 2026-05-01",
                                       "1 of the models ran with other threads",
                                       "1 row without a rate left out",
                                       "4 models",
                                       ">bound<",
                                       "compute",
                                       "memory",
                                       "it's",
                                       "infer",
                                       "train"};
    struct pdnn_err err = {0};
    struct pdnn_plot_result result;
    char *text;
    size_t length;
    enum pdnn_status status = draw(NULL, NULL, PDNN_PLOT_BOTH, &result, &err);
    if (status == PDNN_UNSUPPORTED)
        skip();
    assert_string_equal(err.text, "");
    assert_int_equal(status, PDNN_OK);
    assert_int_equal(result.n_paths, 2);
    assert_int_equal(result.drawn, 4);
    assert_int_equal(result.left_out, 1);
    assert_int_equal(pdnn_file_read(result.path[0], LIMIT_BYTES, &text, NULL, &err), PDNN_OK);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (!strstr(text, said[i]))
            fail_msg("the picture does not say '%s'", said[i]);
    }
    free(text);
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
    const struct pdnn_plot_request request = {
        .directory = directories, .n_directories = 1, .format = PDNN_PLOT_SVG};
    struct pdnn_err err = {0};
    struct pdnn_plot_result result;
    enum pdnn_status status = pdnn_plot_find("ceilings")->draw(&request, &result, &err);
    if (status == PDNN_UNSUPPORTED)
        skip();
    assert_string_equal(err.text, "");
    assert_int_equal(status, PDNN_OK);
    assert_int_equal(result.n_paths, 1);
    assert_int_equal(result.drawn, rows);
    expect_texts(result.path[0], said, count);
    assert_int_equal(unlink(result.path[0]), 0);
}

/* Files from before there was a ladder show their levels. */
static void test_plot_ceilings_without_a_ladder(void **state) {
    (void)state;
    static const char *const said[] = {"A Fast &amp; \"New\" CPU",
                                       "2 threads",
                                       "bandwidth (GB/s)",
                                       "arithmetic (GFLOP/s)",
                                       "f32  fma",
                                       "f32  gemm-onednn",
                                       "L2: 181 GB/s",
                                       "holds 512 KiB",
                                       "DRAM: 35.2 GB/s",
                                       "<text>163</text>"};
    draw_ceilings(4, said, sizeof said / sizeof *said);
}

/* One row of panels per thread count, a line per pattern and kind of store, each level with what it was found
 * to hold and what is reported. */
static void test_plot_ceilings(void **state) {
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
                                       "<text>1790</text>",
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
    write_text("ceilings.csv", ceilings_text);
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
    snprintf(both, sizeof both, "%s%s", ceilings_text, "compute,gemm-onednn,int8,,2,0,311,1,1,1\n");
    write_text("ceilings.csv", both);
    enum pdnn_status status = draw(NULL, NULL, PDNN_PLOT_SVG, &result, &err);
    write_text("results.csv", results_text);
    write_text("ceilings.csv", ceilings_text);
    if (status == PDNN_UNSUPPORTED)
        skip();
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
    enum pdnn_status status = draw("batch", path_of("other.png", path), PDNN_PLOT_SVG, &result, &err);
    if (status == PDNN_UNSUPPORTED)
        skip();
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
        const char *results, *ceilings, *color, *message;
    } rows[] = {
        {results_text, ceilings_text, "bach", "results.csv has no column 'bach', did you mean 'batch'?"},
        {"id,family,status,time_ns_median,gflops\n1,fc,ok,1,2\n", ceilings_text, NULL,
         "results.csv:1: column 'intensity_flop_per_byte' is missing"},
        {HEADER, ceilings_text, NULL, "results.csv: no row has a rate to draw"},
        {results_text, "kind,pattern,dtype,level,threads,capacity_bytes,value,low,high,repetitions\n", NULL,
         "ceilings.csv has no roofs for f32 on 2 threads"},
        {results_text, "nothing", NULL, "ceilings.csv:1: there is no column 'kind'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_err err = {0};
        struct pdnn_plot_result result;
        write_text("results.csv", rows[i].results);
        write_text("ceilings.csv", rows[i].ceilings);
        assert_int_equal(draw(rows[i].color, NULL, PDNN_PLOT_SVG, &result, &err), PDNN_INVALID);
        if (!strstr(err.text, rows[i].message))
            fail_msg("'%s' lacks '%s'", err.text, rows[i].message);
    }
}

static void test_plot_roofline_without_gnuplot(void **state) {
    (void)state;
    struct pdnn_err err = {0};
    struct pdnn_plot_result result;
    char *path = strdup(getenv("PATH") ? getenv("PATH") : "");
    assert_non_null(path);
    setenv("PATH", directory, 1);
    enum pdnn_status status = draw(NULL, NULL, PDNN_PLOT_SVG, &result, &err);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(status, PDNN_UNSUPPORTED);
    assert_non_null(strstr(err.text, "gnuplot-nox"));
}

static void test_plot_roofline_unwritable_output(void **state) {
    (void)state;
    struct pdnn_err err = {0};
    struct pdnn_plot_result result;
    enum pdnn_status status = draw(NULL, "/nonexistent/picture", PDNN_PLOT_PNG, &result, &err);
    assert_int_equal(status, PDNN_INVALID);
    assert_string_equal(err.text, "/nonexistent/picture.png: cannot be written: No such file or directory");
}

/* The old picture stays until the new one is complete. */
static void test_plot_that_fails_leaves_the_old_picture(void **state) {
    (void)state;
    struct pdnn_err err = {0};
    struct pdnn_plot_result result;
    char path[PATH_ROOM], program[PATH_ROOM], *text, *search = strdup(getenv("PATH") ? getenv("PATH") : "");
    assert_non_null(search);
    write_text("roofline.svg", "the old picture");
    write_text("gnuplot", "#!/bin/sh\necho half a picture\necho broken >&2\nexit 1\n");
    assert_int_equal(chmod(path_of("gnuplot", program), 0755), 0);
    setenv("PATH", directory, 1);
    enum pdnn_status status = draw(NULL, NULL, PDNN_PLOT_SVG, &result, &err);
    setenv("PATH", search, 1);
    free(search);
    assert_int_equal(unlink(program), 0);
    assert_int_equal(status, PDNN_IO);
    assert_non_null(strstr(err.text, "roofline.svg: gnuplot failed: broken"));
    assert_int_equal(pdnn_file_read(path_of("roofline.svg", path), LIMIT_BYTES, &text, NULL, &err), PDNN_OK);
    assert_string_equal(text, "the old picture");
    free(text);
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
        enum pdnn_status status =
            draw(NULL, outputs[i] ? path_of(outputs[i], named) : NULL, PDNN_PLOT_SVG, &result, &err);
        if (status == PDNN_UNSUPPORTED)
            skip();
        assert_string_equal(err.text, "");
        assert_int_equal(lstat(link, &info), 0);
        assert_int_equal(S_ISLNK(info.st_mode), outputs[i] != NULL);
        assert_int_equal(pdnn_file_read(target, LIMIT_BYTES, &text, NULL, &err), PDNN_OK);
        assert_int_equal(strcmp(text, "kept") == 0, outputs[i] == NULL);
        free(text);
    }
}

/* One quoted word on one line, whatever the text. */
static void test_gnuplot_quote(void **state) {
    (void)state;
    static const struct {
        const char *text, *quoted;
    } rows[] = {
        {"it's", "'it''s'"},
        {"\"a\" {b} @c #d $e", "'\"a\" {b} @c #d $e'"},
        {"a\nEND\n!id", "'a?END?!id'"},
        {"`id` \\n\\", "'?id? ?n?'"},
        {"\x1b[2J\x7f\t", "'?[2J\?\?'"},
        {"10 \xc2\xb5s \xc2\x9b \xff \xe2\x82", "'10 \xc2\xb5s \?\? ? \?\?'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_str script = {0};
        pdnn_gnuplot_quote(&script, rows[i].text);
        assert_string_equal(pdnn_str_text(&script), rows[i].quoted);
        pdnn_str_finish(&script);
    }
}

static const struct pdnn_frame frame = {1000, 1000, 100, 900, 100, 500, 0.1, 10, 1, 100};

static void test_frame_to_pixels_and_back(void **state) {
    (void)state;
    struct pdnn_spot middle = pdnn_frame_to_pixels(&frame, (struct pdnn_spot){1, 10});
    assert_true(fabs(middle.x - 500) < 1e-9 && fabs(middle.y - 300) < 1e-9);
    struct pdnn_spot back = pdnn_frame_to_data(&frame, middle);
    assert_true(fabs(back.x - 1) < 1e-9 && fabs(back.y - 10) < 1e-9);
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

static const struct pdnn_bar_name bars[] = {{"4", 0, 60}, {"16", 1, 60}, {"32", 2, 60}},
                                  sets[] = {{"length=128, fuse=none", 0.5, 120}, {"length=512", 2, 90}};
static const size_t set_of[] = {0, 0, 1};

/* Two lines for the first set: its items do not fit on one. */
static void test_bar_names_in_lines(void **state) {
    (void)state;
    struct pdnn_bar_names names = {.bar = bars, .set = sets, .set_of = set_of, .n_bars = 3, .n_sets = 2};
    struct pdnn_str script = {0};
    pdnn_bar_names_arrange(&names);
    assert_false(names.upright);
    assert_int_equal(names.bar_lines, 1);
    assert_int_equal(names.set_lines, 2);
    pdnn_bar_names_put(&names, 200, &(struct pdnn_label_sheet){&script, 1200, 800, 10});
    static const char *const said[] = {"set label 10 '4' at first 0,", "'32' at first 2,",
                                       "set label 13 'length=128' at first 0.5,", "'fuse=none' at first 0.5,",
                                       "set label 15 'length=512' at first 2,"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (!strstr(pdnn_str_text(&script), said[i]))
            fail_msg("'%s' lacks '%s'", pdnn_str_text(&script), said[i]);
    }
    assert_null(strstr(pdnn_str_text(&script), "rotate"));
    pdnn_str_finish(&script);
}

/* 132 letters fit between x and the right edge, so the second item goes below the first. */
/* Names of bars that have no room in lines stand upright; those of their sets lie below if they have room. */
static void test_bar_names_upright_above_sets(void **state) {
    (void)state;
    static const struct pdnn_bar_name narrow[] = {{"train, openblas", 0, 40}, {"train, onednn", 1, 40}};
    static const struct pdnn_bar_name wide[] = {{"transformer", 0.5, 100}};
    static const size_t one_set[] = {0, 0};
    struct pdnn_bar_names names = {.bar = narrow, .set = wide, .set_of = one_set, .n_bars = 2, .n_sets = 1};
    struct pdnn_str script = {0};
    struct pdnn_label_sheet sheet = {&script, 1200, 800, 10};
    pdnn_bar_names_arrange(&names);
    assert_true(names.upright);
    assert_false(names.joined);
    assert_int_equal(names.set_lines, 1);
    assert_true(names.height > names.bar_height + 18);
    pdnn_bar_names_put(&names, 300, &sheet);
    assert_non_null(strstr(pdnn_str_text(&script), "train, openblas' at first 0, screen"));
    assert_non_null(strstr(pdnn_str_text(&script), "rotate by 90"));
    assert_non_null(strstr(pdnn_str_text(&script), "transformer' at first 0.5"));
    pdnn_str_finish(&script);
}

static void test_plot_caption(void **state) {
    (void)state;
    struct pdnn_str script = {0}, text = {0};
    struct pdnn_label_sheet sheet = {&script, 1200, 800, 10};
    pdnn_str_printf(&text, "%0125d, second", 0);
    assert_true(pdnn_plot_caption("one, two", 104, 8, &sheet) == 18);
    assert_true(pdnn_plot_caption(pdnn_str_text(&text), 104, 8, &sheet) == 36);
    assert_int_equal(sheet.next, 13);
    assert_non_null(strstr(pdnn_str_text(&script), "set label 10 'one, two' at screen "));
    assert_non_null(strstr(pdnn_str_text(&script), "set label 12 'second' at screen "));
    assert_true(pdnn_plot_caption("", 104, 8, &sheet) == 0);
    pdnn_str_finish(&script);
    pdnn_str_finish(&text);
}

/* One set has no room for its name: then every bar's name includes its set's, cut if it is too long. */
static void test_bar_names_upright(void **state) {
    (void)state;
    struct pdnn_bar_name narrow[] = {sets[0], {"objective=masked-lm, optimizer=lamb, qkv=separate", 2, 20}};
    struct pdnn_bar_names names = {.bar = bars, .set = narrow, .set_of = set_of, .n_bars = 3, .n_sets = 2};
    struct pdnn_str script = {0};
    pdnn_bar_names_arrange(&names);
    assert_true(names.upright);
    pdnn_bar_names_put(&names, 200, &(struct pdnn_label_sheet){&script, 1200, 800, 10});
    static const char *const said[] = {
        "set label 10 '4, length=128, fuse=none' at first 0,",
        "set label 12 '32, objective=masked-lm, optimizer=lamb, q..' at first 2,", "right rotate by 90"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (!strstr(pdnn_str_text(&script), said[i]))
            fail_msg("'%s' lacks '%s'", pdnn_str_text(&script), said[i]);
    }
    pdnn_str_finish(&script);
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
        assert_int_equal(pdnn_plot_find("breakdown")->draw(&request, &result, &err), PDNN_INVALID);
        if (!strstr(err.text, rows[i].message))
            fail_msg("'%s' lacks '%s'", err.text, rows[i].message);
    }
}

static void test_plot_cut_between_characters(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t most;
        const char *cut;
    } rows[] = {
        {"abcdef", 6, "abcdef"},
        {"abcdef", 5, "abc.."},
        {"a\xc3\xa4\xc3\xb6\xc3\xbc", 6, "a\xc3\xa4.."}, /* the fourth byte begins, the fifth ends a letter */
        {"a\xc3\xa4\xc3\xb6\xc3\xbc", 5, "a\xc3\xa4.."},
        {"a\xc3\xa4\xc3\xb6\xc3\xbc", 4, "a.."},
        {"\xe2\x82\xac\xe2\x82\xac", 4, ".."},
        {"abc", 2, ".."},
        {"abc", 1, "."},
        {"abc", 0, ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s", rows[i].text);
        assert_int_equal(pdnn_plot_cut(text, rows[i].most), strcmp(rows[i].text, rows[i].cut) != 0);
        assert_string_equal(text, rows[i].cut);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plot_roofline_draws_both, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_ceilings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_ceilings_without_a_ladder, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_roofline_of_two_dtypes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_roofline_color_and_output, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_roofline_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_roofline_without_gnuplot, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_roofline_unwritable_output, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_breakdown_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_that_fails_leaves_the_old_picture, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plot_and_links, setup, teardown),
        cmocka_unit_test(test_gnuplot_quote),
        cmocka_unit_test(test_bar_names_in_lines),
        cmocka_unit_test(test_bar_names_upright),
        cmocka_unit_test(test_plot_caption),
        cmocka_unit_test(test_plot_cut_between_characters),
        cmocka_unit_test(test_bar_names_upright_above_sets),
        cmocka_unit_test(test_frame_to_pixels_and_back),
        cmocka_unit_test(test_frame_place_avoids_points_and_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
