# A chart on two logarithmic axes. This file is embedded into paradnn; before it, the program writes the variables and data
# blocks it uses: TERMINAL TITLE SUBTITLE, WIDTH HEIGHT, PANEL_TOP and LEFT RIGHT BOTTOM TOP (the frame) in pixels, XMIN XMAX
# YMIN YMAX, PANEL of N_PANELS at BASE (for each, variables and this script follow those of the one before),
# X_TITLE Y_TITLE Y_TITLE_AT, ANGLE (of lines y = c x in the picture), OUTLINE (width), N_LINES DASHED THICK, SLANTED,
# NUMERIC COLOR CBLOG CBMIN CBMAX CBTICS, SCALE_BOTTOM SCALE_TOP in pixels;
#   $lines: one per index: x y    $masks: where a line is interrupted for its text: polygons    $slanted: x y of the texts
#   $points: x y size type rgb value dotted, and 1 if its color is that of the value
# and, as labels from 10 on, captions, names of lines to the right of the frame, and the legend.

if (PANEL == 1) { set terminal TERMINAL size WIDTH, HEIGHT noenhanced font "DejaVu Sans,13" background rgb "white" }
if (PANEL == 1) { set encoding utf8 }
if (PANEL == 1 && N_PANELS > 1) { set multiplot }
set lmargin at screen LEFT / real(WIDTH)
set rmargin at screen RIGHT / real(WIDTH)
set bmargin at screen BOTTOM / real(HEIGHT)
set tmargin at screen TOP / real(HEIGHT)

set label 1 TITLE at screen LEFT / real(WIDTH), screen (PANEL_TOP - 28.0) / HEIGHT left font "DejaVu Sans,18"
set label 2 SUBTITLE at screen LEFT / real(WIDTH), screen (PANEL_TOP - 56.0) / HEIGHT left textcolor rgb "#444444"

set logscale xy
set xrange [XMIN:XMAX]
set yrange [YMIN:YMAX]
large(max) = max >= 1e6 ? "%.0s%c" : "%g"
set format x large(XMAX)
set format y large(YMAX)
set xlabel X_TITLE offset 0, 0.2
set label 6 Y_TITLE at screen 14.0 / WIDTH, screen (BASE + Y_TITLE_AT) / real(HEIGHT) center rotate by 90
# Extra ticks, where decades alone would leave an axis with one or two numbers.
if (log10(XMAX / XMIN) < 3.3) { do for [e = -9:12] { set xtics add (2 * 10.0**e, 5 * 10.0**e) } }
if (log10(YMAX / YMIN) < 3.3) { do for [e = -9:12] { set ytics add (2 * 10.0**e, 5 * 10.0**e) } }
if (log10(YMAX / YMIN) < 1.3) { do for [e = -9:12] { set ytics add (1.5 * 10.0**e, 3 * 10.0**e, 4 * 10.0**e, 7 * 10.0**e) } }
if (log10(XMAX / XMIN) < 1.3) { do for [e = -9:12] { set xtics add (3 * 10.0**e, 4 * 10.0**e, 7 * 10.0**e) } }
if (log10(YMAX / YMIN) < 0.7) { do for [e = -9:12] { do for [k = 11:19:2] { set ytics add (k * 10.0**(e - 1)) }
    do for [k = 3:9] { set ytics add (k * 10.0**e) } } }
set border 3 linecolor rgb "#444444"
set tics nomirror out font ",11" textcolor rgb "#222222"
set grid xtics ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
unset key

if (NUMERIC) {
    set palette defined (0 "#440154", 1 "#46327e", 2 "#365c8d", 3 "#277f8e", 4 "#1fa187", 5 "#4ac16d", 6 "#a0da39", 7 "#e8d21b")
    if (CBLOG) { set logscale cb }
    set cbrange [CBMIN:CBMAX]
    set format cb large(CBMAX)
    set colorbox user origin screen (RIGHT + 30.0) / WIDTH, screen SCALE_BOTTOM / real(HEIGHT) \
        size screen 18.0 / WIDTH, screen (SCALE_TOP - SCALE_BOTTOM) / real(HEIGHT) noborder
    set label 5 COLOR at screen (RIGHT + 26.0) / WIDTH, screen (SCALE_TOP + 22) / real(HEIGHT) left font "DejaVu Sans,12"
    if (strlen(CBTICS)) { eval "set cbtics (" . CBTICS . ")" }
} else {
    unset colorbox
}

# Filled shapes with a thin dark outline, so that overlapping points stay distinct.
plot \
    for [i = 0:N_LINES - 1] $lines index i using 1:2 with lines linecolor rgb "#555555" linewidth THICK[i + 1] \
        dashtype DASHED[i + 1], \
    $masks using 1:2 with filledcurves closed fillcolor rgb "white" fillstyle solid 1.0 noborder, \
    $slanted using 1:2:(SLANTED[int($0) + 1]) with labels rotate by ANGLE center font "DejaVu Sans,12" \
        textcolor rgb "#222222", \
    $points using ($8 > 0 ? NaN : $1):2:3:4:5 with points pointsize variable pointtype variable linecolor rgb variable, \
    $points using ($8 > 0 ? $1 : NaN):2:3:4:6 with points pointsize variable pointtype variable linecolor palette, \
    $points using 1:2:3:($4 - 1) with points pointsize variable pointtype variable linecolor rgb "#222222" linewidth OUTLINE, \
    $points using ($7 > 0 ? $1 : NaN):2:($3 * 0.36) with points pointsize variable pointtype 7 linecolor rgb "white"

if (PANEL < N_PANELS) { reset } else { if (N_PANELS > 1) { unset multiplot } }
