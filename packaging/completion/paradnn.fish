# Fish completion for paradnn. The program itself says what may come next (`paradnn --complete`); here are only the files.
function __paradnn_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l lines ($words[1] --complete $words[2..-1] $word 2>/dev/null)
    printf '%s\n' $lines[2..-1]
    set -l option (string match -r -- '^-[^=]*=' $word)
    set -l tail (string replace -r -- '^-[^=]*=' '' $word)
    switch $lines[1]
        case files
            __fish_complete_path $tail | string replace -r -- '^' "$option"
        case directories
            __fish_complete_directories $tail | string replace -r -- '^' "$option"
        case specs
            __fish_complete_path $tail | string match -r -- '^[^\t]*(?:/|\.ya?ml)(?:\t.*)?$'
    end
end
complete -c paradnn -f -a '(__paradnn_complete)'
