# The roofline picture. This file is embedded into paradnn; before it, the program writes the variables and data blocks it
# uses: TERMINAL TITLE SUBTITLE CAPTION1 CAPTION2, WIDTH HEIGHT and LEFT RIGHT BOTTOM TOP (the frame) in pixels, XMIN XMAX YMIN
# YMAX, ANGLE (of a bandwidth roof in the picture), N_BANDWIDTH N_COMPUTE, NUMERIC CBLOG CBMIN CBMAX CBTICS COLOR, HAS_INFER
# HAS_TRAIN, the legend's N_WORDS WORD WORD_COLOR;
#   $bandwidth, $compute: one roof per index: x y    $masks: where a roof is interrupted for its label: polygons
#   $slanted: x y, and SLANTED, the text of each     $points: x y mode (1 infer, 2 train) value rgb
# and, as labels from 10 on, the names of the compute roofs to the right of the frame.

set terminal TERMINAL size WIDTH, HEIGHT noenhanced font "DejaVu Sans,13" background rgb "white"
set encoding utf8
set lmargin at screen LEFT / real(WIDTH)
set rmargin at screen RIGHT / real(WIDTH)
set bmargin at screen BOTTOM / real(HEIGHT)
set tmargin at screen TOP / real(HEIGHT)

set label 1 TITLE at screen LEFT / real(WIDTH), screen 1 - 28.0 / HEIGHT left font "DejaVu Sans,18"
set label 2 SUBTITLE at screen LEFT / real(WIDTH), screen 1 - 56.0 / HEIGHT left textcolor rgb "#444444"
set label 3 CAPTION1 at screen LEFT / real(WIDTH), screen 34.0 / HEIGHT left font "DejaVu Sans,11" textcolor rgb "#444444"
set label 4 CAPTION2 at screen LEFT / real(WIDTH), screen 15.0 / HEIGHT left font "DejaVu Sans,11" textcolor rgb "#444444"

set logscale xy
set xrange [XMIN:XMAX]
set yrange [YMIN:YMAX]
set format xy "%g"
set xlabel "operational intensity (FLOP per byte of compulsory traffic)" offset 0, 0.2
set ylabel "performance (GFLOP/s)" offset 0.5, 0
# Extra ticks, where decades alone would leave an axis with one or two numbers.
if (log10(XMAX / XMIN) < 3.3) { do for [e = -9:12] { set xtics add (2 * 10.0**e, 5 * 10.0**e) } }
if (log10(YMAX / YMIN) < 3.3) { do for [e = -9:12] { set ytics add (2 * 10.0**e, 5 * 10.0**e) } }
set border 3 linecolor rgb "#444444"
set tics nomirror out textcolor rgb "#222222"
set grid xtics ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
set key at screen (RIGHT + 22.0) / WIDTH, screen (BOTTOM + 0.74 * (TOP - BOTTOM)) / HEIGHT left top Left reverse samplen 1 spacing 1.35 \
    font "DejaVu Sans,12" noautotitle

if (NUMERIC) {
    set palette defined (0 "#440154", 1 "#46327e", 2 "#365c8d", 3 "#277f8e", 4 "#1fa187", 5 "#4ac16d", 6 "#a0da39", 7 "#e8d21b")
    if (CBLOG) { set logscale cb }
    set cbrange [CBMIN:CBMAX]
    set format cb "%g"
    set colorbox user origin screen (RIGHT + 30.0) / WIDTH, screen (BOTTOM + 20.0) / HEIGHT \
        size screen 18.0 / WIDTH, screen 0.36 * (TOP - BOTTOM) / HEIGHT noborder
    set label 5 COLOR at screen (RIGHT + 30.0) / WIDTH, screen (BOTTOM + 20.0 + 0.36 * (TOP - BOTTOM) + 22) / HEIGHT left \
        font "DejaVu Sans,12"
    if (strlen(CBTICS)) { eval "set cbtics (" . CBTICS . ")" }
} else {
    unset colorbox
}

# Filled shapes with a thin dark outline, so that overlapping points stay distinct.
array FILLED[2] = [7, 9]
array OUTLINE[2] = [6, 8]
array SIZE[2] = [1.25, 1.45]
array MODE[2] = [HAS_INFER ? "infer" : "", HAS_TRAIN ? "train" : ""]

plot \
    for [i = 0:N_BANDWIDTH - 1] $bandwidth index i using 1:2 with lines linecolor rgb "#555555" linewidth 2, \
    $compute index 0 using 1:2 with lines linecolor rgb "#555555" linewidth 2, \
    for [i = 1:N_COMPUTE - 1] $compute index i using 1:2 with lines linecolor rgb "#555555" linewidth 2 dashtype 2, \
    $masks using 1:2 with filledcurves closed fillcolor rgb "white" fillstyle solid 1.0 noborder, \
    $slanted using 1:2:(SLANTED[int($0) + 1]) with labels rotate by ANGLE center font "DejaVu Sans,12" textcolor rgb "#222222", \
    for [m = 1:2] $points using ($3 == m ? $1 : NaN):2:5 with points pointtype FILLED[m] pointsize SIZE[m] \
        linecolor rgb variable, \
    for [m = 1:2] $points using (NUMERIC && $3 == m ? $1 : NaN):2:4 with points pointtype FILLED[m] pointsize SIZE[m] \
        linecolor palette, \
    for [m = 1:2] $points using ($3 == m ? $1 : NaN):2 with points pointtype OUTLINE[m] pointsize SIZE[m] \
        linecolor rgb "#222222" linewidth 0.6, \
    NaN with lines linecolor rgb "white" title "shape: mode", \
    for [m = 1:2] NaN with points pointtype OUTLINE[m] pointsize SIZE[m] linecolor rgb "#222222" title MODE[m], \
    NaN with lines linecolor rgb "white" title (NUMERIC ? "" : "color: " . COLOR), \
    for [i = 1:N_WORDS] NaN with points pointtype 5 pointsize 1.3 linecolor rgb WORD_COLOR[i] title WORD[i]
