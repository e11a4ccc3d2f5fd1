# The weights of a fit. This file is embedded into paradnn; before it, the program writes the variables and data blocks it uses:
# TERMINAL TITLE SUBTITLE, WIDTH HEIGHT in pixels, LEFT RIGHT BELOW ABOVE (pixels to the frame from the left and from the edges
# below and above), BAR (pixels), XMIN XMAX;
#   $linear, $log: weight low high y    $zero: x y dx dy    (y in pixels from the lower edge of the frame)
# and, as labels from 10 on, names, heads and the caption.

set terminal TERMINAL size WIDTH, HEIGHT noenhanced font "DejaVu Sans,13" background rgb "white"
set encoding utf8
set label 1 TITLE at screen 24.0 / WIDTH, screen 1 - 28.0 / HEIGHT left font "DejaVu Sans,18"
set label 2 SUBTITLE at screen 24.0 / WIDTH, screen 1 - 56.0 / HEIGHT left textcolor rgb "#444444"
set lmargin at screen LEFT / real(WIDTH)
set rmargin at screen RIGHT / real(WIDTH)
set bmargin at screen BELOW / real(HEIGHT)
set tmargin at screen 1 - ABOVE / real(HEIGHT)
set xrange [XMIN:XMAX]
set yrange [0:HEIGHT - ABOVE - BELOW]
set border 1 linecolor rgb "#888888" linewidth 0.8
set xtics nomirror scale 0.4 font ",11" textcolor rgb "#222222"
unset ytics
set xlabel "weight: standard deviations of the value per standard deviation of the term" font "DejaVu Sans,12"
set key at screen RIGHT / real(WIDTH), screen 1 - 92.0 / HEIGHT right center horizontal maxrows 1 samplen 1.5 width 1 font ",12"
set style fill solid 1.0 noborder

plot $linear using 1:4:(0):1:($4 - BAR / 2.0):($4 + BAR / 2.0) with boxxyerror linecolor rgb "#0072b2" title "linear", \
    $log using 1:4:(0):1:($4 - BAR / 2.0):($4 + BAR / 2.0) with boxxyerror linecolor rgb "#e69f00" title "in logarithms", \
    $linear using 1:4:2:3 with xerrorbars linecolor rgb "#222222" linewidth 1.2 pointtype 0 notitle, \
    $log using 1:4:2:3 with xerrorbars linecolor rgb "#222222" linewidth 1.2 pointtype 0 notitle, \
    $zero using 1:2:3:4 with vectors nohead linecolor rgb "#444444" linewidth 1 notitle
