# The picture of the roofs. This file is embedded into paradnn; before it, the program writes the variables and data blocks it uses:
# TERMINAL TITLE, N_ROWS (thread counts) N_PANELS (in each), ROW (the text above each row), the names below bars in TIC from FIRST_TIC (by row and panel) on, UNIT and
# GROUPS (sets of bars) by panel, the legend's WORD and WORD_COLOR, with panel k from FIRST[k] up to but not including FIRST[k + 1];
#   $bars: one block per row and panel: x value low high width rgb number

WIDTH = 1200.0
TOP = 64.0
LINES = 1
do for [k = 1:N_PANELS] { LINES = (FIRST[k + 1] - FIRST[k] - 1) / 4 + 1 > LINES ? (FIRST[k + 1] - FIRST[k] - 1) / 4 + 1 : LINES }
HEAD = 46 + 19.0 * LINES
ROW_HEIGHT = 300 + HEAD
HEIGHT = TOP + N_ROWS * ROW_HEIGHT + 46
LEFT = 84.0
GAP = 96.0
PANEL = (WIDTH - LEFT - 30 - (N_PANELS - 1) * GAP) / N_PANELS

set terminal TERMINAL size WIDTH, HEIGHT noenhanced font "DejaVu Sans,13" background rgb "white"
set encoding utf8
set multiplot

set border 3 linecolor rgb "#444444"
set tics nomirror out textcolor rgb "#222222"
set xtics scale 0
set grid ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
set style fill solid 0.85 noborder

set label 1 TITLE at screen LEFT / WIDTH, screen 1 - 28.0 / HEIGHT left font "DejaVu Sans,18"
set label 3 "Bars are the roofs, lines go from the least to the greatest repetition. Below a level: what it holds for these threads." \
    at screen LEFT / WIDTH, screen 17.0 / HEIGHT left font "DejaVu Sans,11" textcolor rgb "#444444"

do for [r = 1:N_ROWS] {
    set tmargin at screen 1 - (TOP + (r - 1) * ROW_HEIGHT + HEAD) / HEIGHT
    set bmargin at screen 1 - (TOP + r * ROW_HEIGHT - 56) / HEIGHT
    set label 2 ROW[r] at screen LEFT / WIDTH, screen 1 - (TOP + (r - 1) * ROW_HEIGHT + 16) / HEIGHT left \
        font "DejaVu Sans,14" textcolor rgb "#444444"
    do for [k = 1:N_PANELS] {
        i = (r - 1) * N_PANELS + k - 1
        set lmargin at screen (LEFT + (k - 1) * (PANEL + GAP)) / WIDTH
        set rmargin at screen (LEFT + (k - 1) * (PANEL + GAP) + PANEL) / WIDTH
        set xtics ()
        do for [g = 1:GROUPS[k]] { set xtics add (TIC[FIRST_TIC[i + 1] + g - 1] g - 1) }
        set ylabel UNIT[k] offset 0.5, 0
        set key at screen (LEFT + (k - 1) * (PANEL + GAP)) / WIDTH, screen 1 - (TOP + (r - 1) * ROW_HEIGHT + 30) / HEIGHT left top \
            horizontal Left reverse samplen 1 maxcols 4 font "DejaVu Sans,11" noautotitle
        set autoscale
        set xrange [*:*]
        stats $bars index i using 4 nooutput
        set yrange [0 : STATS_max * 1.12]
        set xrange [-0.6 : GROUPS[k] - 0.4]
        plot $bars index i using 1:2:5:6 with boxes linecolor rgb variable, \
            $bars index i using 1:3:(0):($4 - $3) with vectors heads size screen 0.004, 90 linecolor rgb "#222222", \
            $bars index i using 1:4:7 with labels offset 0, 0.6 font "DejaVu Sans,9" textcolor rgb "#222222", \
            for [w = FIRST[k]:FIRST[k + 1] - 1] NaN with points pointtype 5 pointsize 1.3 linecolor rgb WORD_COLOR[w] title WORD[w]
        unset label 1
        unset label 2
        unset label 3
    }
}
unset multiplot
