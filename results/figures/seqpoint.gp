# An epoch by length: step times with the iterations that stand for others, and a histogram of all iterations below. This file is
# embedded into paradnn; before it, the program writes the variables and data blocks it uses: TERMINAL TITLE SUBTITLE,
# WIDTH HEIGHT, LEFT RIGHT, LOWER_BOTTOM LOWER_TOP UPPER_BOTTOM UPPER_TOP (frames) in pixels, XMIN XMAX YMAX COUNT_MAX,
# X_TITLE Y_TITLE, HAS_TIMES;
#   $kinds: x y of iterations    $marks: x y size type rgb of those chosen
#   $bars: low high count        $stems: x of the SeqPoints, count of their bar
# and, as labels from 10 on, captions and the legend.

set terminal TERMINAL size WIDTH, HEIGHT noenhanced font "DejaVu Sans,13" background rgb "white"
set encoding utf8
set multiplot
set lmargin at screen LEFT / real(WIDTH)
set rmargin at screen RIGHT / real(WIDTH)
set label 1 TITLE at screen LEFT / real(WIDTH), screen 1 - 28.0 / HEIGHT left font "DejaVu Sans,18"
set label 2 SUBTITLE at screen LEFT / real(WIDTH), screen 1 - 56.0 / HEIGHT left textcolor rgb "#444444"
set xrange [XMIN:XMAX]
set border 3 linecolor rgb "#444444"
set tics nomirror out font ",11" textcolor rgb "#222222"
set grid ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
set style fill solid 1.0 noborder
unset key

set bmargin at screen LOWER_BOTTOM / real(HEIGHT)
set tmargin at screen LOWER_TOP / real(HEIGHT)
set xlabel X_TITLE offset 0, 0.2 font "DejaVu Sans,12"
set yrange [0:COUNT_MAX]
set ytics autofreq
set format y "%g"
set label 3 "iterations" at screen 20.0 / WIDTH, screen (LOWER_BOTTOM + LOWER_TOP) / 2.0 / HEIGHT center rotate by 90 \
    font "DejaVu Sans,12"
plot $bars using (($1 + $2) / 2):3:1:2:(0):3 with boxxyerror linecolor rgb "#9fb4c7", \
    $stems using 1:(0):(0):2 with vectors nohead linecolor rgb "#d55e00" linewidth 1.6, \
    $stems using 1:2 with points pointtype 7 pointsize 0.9 linecolor rgb "#d55e00"

if (HAS_TIMES) {
    unset label 1
    unset label 2
    do for [k = 10:40] { unset label k }
    unset xlabel
    set format x ""
    set bmargin at screen UPPER_BOTTOM / real(HEIGHT)
    set tmargin at screen UPPER_TOP / real(HEIGHT)
    set yrange [0:YMAX]
    set label 3 Y_TITLE at screen 20.0 / WIDTH, screen (UPPER_BOTTOM + UPPER_TOP) / 2.0 / HEIGHT center rotate by 90 \
        font "DejaVu Sans,12"
    plot $kinds using 1:2 with points pointtype 7 pointsize 0.55 linecolor rgb "#9a9a9a", \
        $marks using 1:2:3:4:5 with points pointsize variable pointtype variable linecolor rgb variable, \
        $marks using 1:2:3:($4 - 1) with points pointsize variable pointtype variable linecolor rgb "#222222" linewidth 0.8
}
unset multiplot
