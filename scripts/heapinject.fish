# SPDX-License-Identifier: MIT
# Fish completion for heapinject. It offers the commands and options that the program's own help
# names, so that this file knows what it is installed with.

# Each command, with what help says of it.
function __heapinject_commands
    heapinject --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1\t\2/p'
end

function __heapinject_is_command
    contains -- "$(commandline -opc)[2]" $argv
end

# Each option of the command that is typed: its name, its argument ("." if there is none), and what
# help says of it. Names on one line of help have the same argument. Run and guard have the options
# of attach, too.
function __heapinject_table
    set -l words (commandline -opc)
    set -l commands $words[2]
    contains -- "$commands" run guard; and set commands attach $commands
    for command in $commands
        heapinject help $command 2>/dev/null
    end | awk '/^ +-/ {
        sub(/^ +/, ""); text = $0; sub(/  .*/, ""); sub(/^.*  +/, "", text)
        count = split($0, name, ", "); argument = "."
        for (i = 1; i <= count; i++) {
            split(name[i], word, " "); name[i] = word[1]
            if (name[i] ~ /^-/ && word[2] ~ /^([A-Z]+|[a-z]+(\|[a-z]+)+)$/) argument = word[2]
        }
        for (i = 1; i <= count; i++)
            if (name[i] ~ /^-/) print name[i] "\t" argument "\t" text
    }'
end

function __heapinject_options
    __heapinject_table | cut -f 1,3
end

# What the option before the cursor takes, as help calls it; nothing if it takes nothing.
function __heapinject_argument
    set -l words (commandline -opc)
    for line in (__heapinject_table)
        set -l fields (string split \t -- $line)
        if test "x$fields[1]" = "x$words[-1]"; and test "$fields[2]" != .
            echo $fields[2]
            return 0
        end
    end
    return 1
end

function __heapinject_values
    switch (__heapinject_argument)
        case '*|*'
            string split '|' -- (__heapinject_argument)
        case LOADER
            printf '%s\n' map dlopen
        case WHERE
            printf '%s\n' auto entry slot
        case FILE OUT BINARY PREFIX DIRS OLD NEW
            __fish_complete_path (commandline -ct)
    end
end

function __heapinject_is_first
    test (count (commandline -opc)) -eq 1; or __heapinject_is_command help
end

# After the command, and not after an option that takes something.
function __heapinject_is_free
    not __heapinject_is_first; and not __heapinject_argument >/dev/null
end

set -l attached check attach guard detach dump status pause resume reset rate top serve
set -l takes_process "__heapinject_is_free; and __heapinject_is_command $attached"
set -l takes_file "__heapinject_is_free; and not __heapinject_is_command $attached"

complete -c heapinject -f
complete -c heapinject -n __heapinject_is_first -a '(__heapinject_commands)'
complete -c heapinject -n __heapinject_is_free -a '(__heapinject_options)'
complete -c heapinject -n 'not __heapinject_is_first; and __heapinject_argument >/dev/null' \
    -a '(__heapinject_values)'
complete -c heapinject -n $takes_process -a '(__fish_complete_pids)'
complete -c heapinject -n $takes_file -F
