# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Bash completion for heapinject. It offers the commands and options that the program's own help
# names, so that this file knows what it is installed with.

# _heapinject_commands PROGRAM
_heapinject_commands() {
	"$1" --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# _heapinject_options PROGRAM COMMAND: prints "NAME ARGUMENT" of each, with a dot for no argument;
# names on one line of help have the same argument
_heapinject_options() {
	"$1" help "$2" 2>/dev/null | awk '/^ +-/ {
		sub(/^ +/, ""); sub(/  .*/, "")
		count = split($0, name, ", "); argument = "."
		for (i = 1; i <= count; i++) {
			split(name[i], word, " "); name[i] = word[1]
			if (name[i] ~ /^-/ && word[2] ~ /^([A-Z]+|[a-z]+(\|[a-z]+)+)$/)
				argument = word[2]
		}
		for (i = 1; i <= count; i++) if (name[i] ~ /^-/) print name[i], argument
	}'
}

# _heapinject_value ARGUMENT WORD: what an option's argument may be, by what help calls it
_heapinject_value() {
	case $1 in
	*'|'*) mapfile -t COMPREPLY < <(compgen -W "${1//|/ }" -- "$2") ;;
	LOADER) mapfile -t COMPREPLY < <(compgen -W 'map dlopen' -- "$2") ;;
	WHERE) mapfile -t COMPREPLY < <(compgen -W 'auto entry slot' -- "$2") ;;
	FILE | OUT | BINARY | PREFIX | DIRS | OLD | NEW | PATH)
		mapfile -t COMPREPLY < <(compgen -f -- "$2")
		;;
	esac
}

_heapinject() {
	local program=$1 word=$2 previous=$3 command=${COMP_WORDS[1]} options name argument names=
	COMPREPLY=()
	if [[ $COMP_CWORD -eq 1 ]]; then
		mapfile -t COMPREPLY < <(
			compgen -W "$(_heapinject_commands "$program") --help --version" -- "$word"
		)
		return
	fi
	if [[ $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_heapinject_commands "$program")" -- "$word")
		return
	fi
	# run and guard have the options of attach, too
	options=$(_heapinject_options "$program" "$command")
	[[ $command != run && $command != guard ]] ||
		options+=$'\n'$(_heapinject_options "$program" attach)
	while read -r name argument; do
		[[ $argument == . || $previous != "$name" ]] || {
			_heapinject_value "$argument" "$word"
			return
		}
		names+=" $name"
	done <<<"$options"
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word")
	elif [[ $command =~ \
		^(check|attach|guard|detach|dump|status|pause|resume|reset|rate|top|serve)$ ]]
	then
		mapfile -t COMPREPLY < <(cd /proc && compgen -G "$word*" | grep -x '[0-9]*')
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}
complete -o filenames -F _heapinject heapinject
