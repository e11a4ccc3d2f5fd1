# The picture of the roofs. This file is embedded into paradnn; before it, the program writes the variables and data blocks it uses:
# TERMINAL TITLE, N_ROWS (thread counts), ROW (the text above each row), and for the panels on the left LADDER_WIDTH XMIN XMAX YMIN YMAX,
# N_SERIES SERIES SERIES_COLOR DASH (the legend), NAME (of a level, three lines) at NAME_X, those of row r from FIRST_NAME[r] up to but
# not including FIRST_NAME[r + 1]; for those on the right MOST_BARS, and TIC (names of bars) from FIRST_TIC[r] on;
#   $lines: N_SERIES blocks per row: x y    $marks: a block per row: x y rgb    $ends: a block per row: x, 1 if reported (else found)
#   $bars: a block per row: y value low high rgb number

WIDTH = 1200.0
TOP = 112.0
HEAD = 88.0
FOOT = 72.0
PANEL = 24.0 * MOST_BARS > 280 ? 24.0 * MOST_BARS : 280
ROW_HEIGHT = HEAD + PANEL + FOOT
HEIGHT = TOP + N_ROWS * ROW_HEIGHT + 30
LEFT = 84.0
BARS_LEFT = LEFT + LADDER_WIDTH + 190
BARS_RIGHT = WIDTH - 30

set terminal TERMINAL size WIDTH, HEIGHT noenhanced font "DejaVu Sans,13" background rgb "white"
set encoding utf8
set multiplot

set border 3 linecolor rgb "#444444"
set tics nomirror out textcolor rgb "#222222"
set style fill solid 0.85 noborder
size(e) = e < 20 ? sprintf("%d KiB", 2**(e - 10)) : e < 30 ? sprintf("%d MiB", 2**(e - 20)) : sprintf("%d GiB", 2**(e - 30))

set label 1 TITLE at screen LEFT / WIDTH, screen 1 - 28.0 / HEIGHT left font "DejaVu Sans,18"
set label 3 "Rings are the roofs. Solid lines: where a level was found to end; dashed: its reported size. Lines on bars go from the least to the greatest repetition." \
    at screen LEFT / WIDTH, screen 17.0 / HEIGHT left font "DejaVu Sans,11" textcolor rgb "#444444"

do for [r = 1:N_ROWS] {
    set tmargin at screen 1 - (TOP + (r - 1) * ROW_HEIGHT + HEAD) / HEIGHT
    set bmargin at screen 1 - (TOP + (r - 1) * ROW_HEIGHT + HEAD + PANEL) / HEIGHT
    set label 2 ROW[r] at screen LEFT / WIDTH, screen 1 - (TOP + (r - 1) * ROW_HEIGHT + 12) / HEIGHT left \
        font "DejaVu Sans,14" textcolor rgb "#444444"
    do for [i = FIRST_NAME[r]:FIRST_NAME[r + 1] - 1] {
        set label 10 + i NAME[i] at first NAME_X[i], screen 1 - (TOP + (r - 1) * ROW_HEIGHT + 38) / HEIGHT center \
            font "DejaVu Sans,11" textcolor rgb "#222222"
    }
    set lmargin at screen LEFT / WIDTH
    set rmargin at screen (LEFT + LADDER_WIDTH) / WIDTH
    set logscale xy 2
    set xrange [XMIN:XMAX]
    set yrange [YMIN:YMAX]
    set xtics scale 0.6 () font ",11"
    do for [e = 10:50:2] { if (2.0**e >= XMIN && 2.0**e <= XMAX) { set xtics add (size(e) 2.0**e) } }
    set ytics scale 0.6 autofreq font ",11"
    set format y "%g"
    set grid xtics ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
    set xlabel "working set of all threads together" offset 0, 0.3
    set ylabel "bandwidth (GB/s)" offset 0.5, 0
    if (r == 1) {
        set key at screen LEFT / WIDTH, screen 1 - 58.0 / HEIGHT left top horizontal Left reverse samplen 2.6 maxcols 8 \
            font "DejaVu Sans,11" noautotitle
    } else { unset key }
    plot $ends index r - 1 using ($2 == 0 ? $1 : NaN):(YMIN):(0):(YMAX - YMIN) with vectors nohead linecolor rgb "#222222" linewidth 1.4, \
        $ends index r - 1 using ($2 == 1 ? $1 : NaN):(YMIN):(0):(YMAX - YMIN) with vectors nohead linecolor rgb "#777777" linewidth 1.4 \
            dashtype (5, 4), \
        for [s = 1:N_SERIES] $lines index (r - 1) * N_SERIES + s - 1 using 1:2 with linespoints pointtype 7 pointsize 0.35 \
            linewidth 1.8 linecolor rgb SERIES_COLOR[s] dashtype DASH[s] title SERIES[s], \
        $marks index r - 1 using 1:2:3 with points pointtype 6 pointsize 1.5 linewidth 2 linecolor rgb variable
    do for [i = FIRST_NAME[r]:FIRST_NAME[r + 1] - 1] { unset label 10 + i }
    unset label 1
    unset label 2
    unset label 3
    unset key

    set lmargin at screen BARS_LEFT / WIDTH
    set rmargin at screen BARS_RIGHT / WIDTH
    unset logscale
    set autoscale
    set xrange [*:*]
    stats $bars index r - 1 using 4 nooutput
    set xrange [0 : STATS_max * 1.22]
    set yrange [FIRST_TIC[r + 1] - FIRST_TIC[r] - 0.4 : -0.6]
    set xtics scale 0.6 autofreq font ",11"
    set ytics scale 0 () font ",11"
    do for [i = FIRST_TIC[r]:FIRST_TIC[r + 1] - 1] { set ytics add (TIC[i] i - FIRST_TIC[r]) }
    unset grid
    set grid xtics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
    set xlabel "arithmetic (GFLOP/s)" offset 0, 0.3
    unset ylabel
    plot $bars index r - 1 using (0):1:(0):2:($1 - 0.36):($1 + 0.36):5 with boxxyerror linecolor rgb variable, \
        $bars index r - 1 using 3:1:($4 - $3):(0) with vectors heads size screen 0.003, 90 linecolor rgb "#222222", \
        $bars index r - 1 using 4:1:6 with labels left offset 0.6, 0 font "DejaVu Sans,11" textcolor rgb "#222222"
}
unset multiplot
