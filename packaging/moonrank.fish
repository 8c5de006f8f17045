# Completion of the command moonrank for fish: commands and options as `moonrank --help` lists them, names of data sets
# as the program knows them, and files elsewhere.
function __moonrank_words
    set -l words (commandline -opc)
    if test (count $words) -eq 1
        moonrank --help | sed -nE 's/^ +moonrank ([a-z]+) .*/\1/p; s/^ +(--?[a-z-]+) .*/\1/p' | sort -u
    else if test $words[2] = data
        if test (count $words) -eq 2
            printf '%s\n' list get
        else if test $words[3] = get
            moonrank data list 2>/dev/null | awk '/^[^ ]/ { print $1 }'
        end
    else if test $words[2] = kernel; and test (count $words) -eq 2
        printf '%s\n' install remove
    else if string match -q -- '-*' (commandline -ct); and not test -e $words[2] # --help of a script would run it
        moonrank $words[2] --help 2>/dev/null | grep -oE -- '--[a-z-]+' | sort -u
    end
end
complete -c moonrank -a '(__moonrank_words)'
