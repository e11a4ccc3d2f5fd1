# The breakdown picture. This file is embedded into paradnn; before it, the program writes the variables and data blocks it
# uses: TERMINAL TITLE SUBTITLE, AXIS at AXIS_Y, WIDTH HEIGHT and LEFT RIGHT BOTTOM TOP (the frame) in pixels, XMIN XMAX, the
# legend's N_PARTS PART PART_COLOR, topmost first;
#   $parts: x_low x_high y_low y_high rgb            $light, $dark: x y number, on light and dark parts
#   $times: x y, and TIME, the text of each; $upright: the same where they stand upright
# and, as labels from 10 on, the names of the bars below the frame, and the captions.

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
set yrange [0:106]
unset xtics
set ytics 0, 20, 100 nomirror out textcolor rgb "#222222"
set format y "%g %%"
set label 5 "share of a step's time" at screen 18.0 / WIDTH, screen (BOTTOM + TOP) / 2.0 / HEIGHT center rotate by 90
set border 3 linecolor rgb "#444444"
set grid ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
unset key

# The legend is drawn by hand, since gnuplot breaks it into columns if the frame is low.
do for [i = 1:N_PARTS] {
    x = RIGHT + 28.0
    y = TOP - 6.0 - 25.0 * (i - 1)
    set object 100 + i rectangle from screen x / WIDTH, screen (y - 5) / HEIGHT to screen (x + 24) / WIDTH, screen (y + 5) / HEIGHT \
        fillcolor rgb PART_COLOR[i] fillstyle solid 1.0 noborder
    set label 1000 + i PART[i] at screen (x + 34) / WIDTH, screen y / HEIGHT left font "DejaVu Sans,12"
}

# A thin white line separates parts of similar color.
plot \
    $parts using (($1 + $2) / 2):(($3 + $4) / 2):1:2:3:4:5 with boxxyerror fillcolor rgb variable \
        fillstyle solid 1.0 border linecolor rgb "white" linewidth 0.4, \
    $light using 1:2:3 with labels center font "DejaVu Sans,11" textcolor rgb "#222222", \
    $dark using 1:2:3 with labels center font "DejaVu Sans,11" textcolor rgb "white", \
    $times using 1:2:(TIME[int($0) + 1]) with labels center font "DejaVu Sans,11" textcolor rgb "#222222", \
    $upright using 1:2:(TIME[int($0) + 1]) with labels left rotate by 90 font "DejaVu Sans,11" textcolor rgb "#222222"
