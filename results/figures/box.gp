# Boxes side by side. This file is embedded into paradnn; before it, the program writes the variables and data blocks it uses:
# TERMINAL TITLE SUBTITLE Y_TITLE Y_TITLE_AT, AXIS at AXIS_Y, WIDTH HEIGHT and LEFT RIGHT BOTTOM TOP (the frame) in pixels, XMIN XMAX YMIN
# YMAX, YLOG, PART (width of a box), LINE (NaN: none), HAS_MIDDLE;
#   $boxes: x low_whisker low middle high high_whisker    $beyond: x y    $dots: x y type rgb rgb_of_outline
# and, as labels from 10 on, the names of the boxes below the frame, the caption, and the legend.

set terminal TERMINAL size WIDTH, HEIGHT noenhanced font "DejaVu Sans,13" background rgb "white"
set encoding utf8
set lmargin at screen LEFT / real(WIDTH)
set rmargin at screen RIGHT / real(WIDTH)
set bmargin at screen BOTTOM / real(HEIGHT)
set tmargin at screen TOP / real(HEIGHT)

set label 1 TITLE at screen LEFT / real(WIDTH), screen 1 - 28.0 / HEIGHT left font "DejaVu Sans,18"
set label 2 SUBTITLE at screen LEFT / real(WIDTH), screen 1 - 56.0 / HEIGHT left textcolor rgb "#444444"
set label 4 AXIS at screen (LEFT + RIGHT) / 2.0 / WIDTH, screen AXIS_Y / real(HEIGHT) center

set xrange [XMIN:XMAX]
set yrange [YMIN:YMAX]
if (YLOG) {
    set logscale y
    if (log10(YMAX / YMIN) < 3.3) { do for [e = -9:12] { set ytics add (2 * 10.0**e, 5 * 10.0**e) } }
    if (log10(YMAX / YMIN) < 1.3) { do for [e = -9:12] { set ytics add (1.5 * 10.0**e, 3 * 10.0**e, 4 * 10.0**e, 7 * 10.0**e) } }
}
set format y (YMAX >= 1e6 ? "%.0s%c" : "%g")
unset xtics
set ytics nomirror out font ",11" textcolor rgb "#222222"
set label 6 Y_TITLE at screen 14.0 / WIDTH, screen Y_TITLE_AT / real(HEIGHT) center rotate by 90
set border 3 linecolor rgb "#444444"
set grid ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
unset key

plot \
    LINE with lines linecolor rgb "#555555" linewidth 1.6 dashtype (6, 4), \
    $boxes using 1:2:(0):($3 - $2) with vectors nohead linecolor rgb "#222222" linewidth 1.4, \
    $boxes using 1:5:(0):($6 - $5) with vectors nohead linecolor rgb "#222222" linewidth 1.4, \
    $boxes using ($1 - PART / 4):2:(PART / 2):(0) with vectors nohead linecolor rgb "#222222" linewidth 1.4, \
    $boxes using ($1 - PART / 4):6:(PART / 2):(0) with vectors nohead linecolor rgb "#222222" linewidth 1.4, \
    $boxes using 1:($3 + $5) / 2:($1 - PART / 2):($1 + PART / 2):3:5 with boxxyerror fillcolor rgb "#9ecae1" \
        fillstyle solid 1.0 border linecolor rgb "#222222" linewidth 1.2, \
    $boxes using ($1 - PART / 2):(HAS_MIDDLE ? $4 : NaN):(PART):(0) with vectors nohead linecolor rgb "#222222" linewidth 3, \
    $beyond using 1:2 with points pointtype 6 pointsize 0.5 linecolor rgb "#444444", \
    $dots using 1:2:3:4 with points pointsize 1.3 pointtype variable linecolor rgb variable, \
    $dots using 1:2:($3 - 1):5 with points pointsize 1.3 pointtype variable linecolor rgb variable linewidth 1.6
