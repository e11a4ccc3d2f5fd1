# The heat map. This file is embedded into paradnn; before it, the program writes the variables, tics and data blocks it
# uses: TERMINAL TITLE SUBTITLE, WIDTH HEIGHT in pixels, N_PANELS, PANEL (left right bottom top of each frame, in pixels), NAME
# (of each panel), NX NY (steps of the axes) X_TITLE Y_TITLE, X_TITLE_DOWN Y_TITLE_LEFT (pixels from the frame), UPRIGHT,
# COLOR CBLOG CBMIN CBMAX CBTICS;
#   with one index per panel: $cells: x y value    $crosses: x y dx dy    $light, $dark: x y number
# and, as labels from 10 on, the captions.

set terminal TERMINAL size WIDTH, HEIGHT noenhanced font "DejaVu Sans,13" background rgb "white"
set encoding utf8
set multiplot
set label 1 TITLE at screen 24.0 / WIDTH, screen 1 - 28.0 / HEIGHT left font "DejaVu Sans,18"
set label 2 SUBTITLE at screen 24.0 / WIDTH, screen 1 - 56.0 / HEIGHT left textcolor rgb "#444444"
set xrange [-0.5:NX - 0.5]
set yrange [-0.5:NY - 0.5]
set border 15 linecolor rgb "#888888" linewidth 0.8
set xtics nomirror scale 0 offset 0, 0.3 font ",11" textcolor rgb "#222222"
set ytics nomirror scale 0 font ",11" textcolor rgb "#222222"
if (UPRIGHT) { set xtics rotate by 90 right }
unset key

set palette defined (0 "#440154", 1 "#46327e", 2 "#365c8d", 3 "#277f8e", 4 "#1fa187", 5 "#4ac16d", 6 "#a0da39", 7 "#f0e24a")
if (CBLOG) { set logscale cb }
set cbrange [CBMIN:CBMAX]
set format cb (CBMAX < 1e4 ? "%g" : CBLOG ? "%.0s%c" : "%.1s%c")
set label 3 COLOR at screen 1184.0 / WIDTH, screen 0.5 center rotate by 90 font "DejaVu Sans,12"
set cbtics scale 0.4 font ",11" textcolor rgb "#222222"
if (strlen(CBTICS)) { eval "set cbtics (" . CBTICS . ")" }
set colorbox user origin screen 1098.0 / WIDTH, screen 0.3 size screen 18.0 / WIDTH, screen 0.4 \
    noborder

do for [i = 1:N_PANELS] {
    set lmargin at screen PANEL[4 * i - 3] / real(WIDTH)
    set rmargin at screen PANEL[4 * i - 2] / real(WIDTH)
    set bmargin at screen PANEL[4 * i - 1] / real(HEIGHT)
    set tmargin at screen PANEL[4 * i] / real(HEIGHT)
    set label 4 NAME[i] at screen PANEL[4 * i - 3] / real(WIDTH), screen (PANEL[4 * i] + 12) / real(HEIGHT) left font "DejaVu Sans,12"
    set label 5 X_TITLE at screen (PANEL[4 * i - 3] + PANEL[4 * i - 2]) / 2.0 / WIDTH, \
        screen (PANEL[4 * i - 1] - X_TITLE_DOWN) / real(HEIGHT) center font "DejaVu Sans,12"
    set label 6 Y_TITLE at screen (PANEL[4 * i - 3] - Y_TITLE_LEFT) / real(WIDTH), \
        screen (PANEL[4 * i - 1] + PANEL[4 * i]) / 2.0 / HEIGHT center rotate by 90 font "DejaVu Sans,12"
    plot $cells index i - 1 using 1:2:($1 - 0.5):($1 + 0.5):($2 - 0.5):($2 + 0.5):3 with boxxyerror linecolor palette \
            fillstyle solid 1.0 noborder, \
        $crosses index i - 1 using 1:2:3:4 with vectors nohead linecolor rgb "white" linewidth 3.6, \
        $crosses index i - 1 using 1:2:3:4 with vectors nohead linecolor rgb "#b00020" linewidth 1.6, \
        $light index i - 1 using 1:2:3 with labels center font "DejaVu Sans,11" textcolor rgb "#111111", \
        $dark index i - 1 using 1:2:3 with labels center font "DejaVu Sans,11" textcolor rgb "white"
    unset colorbox
    unset label 1
    unset label 2
    unset label 3
    do for [k = 10:40] { unset label k }
}
unset multiplot
