#compdef heapinject
# SPDX-License-Identifier: MIT
# Zsh completion for heapinject. It offers the commands and options that the program's own help
# names, so that this file knows what it is installed with.

# What an option's argument may be, by what help calls it.
_heapinject_value() {
	case $1 in
	*'|'*) print -r -- ":$1:(${1//|/ })" ;;
	LOADER) print -r -- ":$1:(map dlopen)" ;;
	WHERE) print -r -- ":$1:(auto entry slot)" ;;
	FILE|OUT|BINARY|PREFIX|DIRS|OLD|NEW|PATH) print -r -- ":$1:_files" ;;
	*) print -r -- ":$1: " ;;
	esac
}

_heapinject() {
	local program=$words[1] command=$words[2] line text name argument value
	local -a commands specs names match mbegin mend
	setopt localoptions extendedglob
	if (( CURRENT == 2 )) || [[ $command == help ]]; then
		commands=(${(f)"$($program --help 2>/dev/null |
			sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1:\2/p')"})
		_describe command commands
		return
	fi
	# run and guard have the options of attach, too
	for line in ${(f)"$($program help $command 2>/dev/null
		[[ $command != (run|guard) ]] || $program help attach 2>/dev/null)"}; do
		[[ $line == ' '##-* ]] || continue
		line=${line## ##}
		text=${${${line#*  }## ##}//[\[\]]/}
		names=(${(s:, :)line%%  *})
		argument=
		for name in $names; do
			[[ $name == -*' '* && ${${=name}[2]} =~ '^([A-Z]+|[a-z]+(\|[a-z]+)+)$' ]] &&
				argument=${${=name}[2]}
		done
		for name in $names; do
			name=${name%% *}
			value=${argument:+$(_heapinject_value $argument)}
			case $name in
			--*) specs+=("$name${argument:+=}[$text]$value") ;;
			-*) specs+=("$name${argument:++}[$text]$value") ;;
			esac
		done
	done
	case $command in
	check|attach|guard|detach|dump|status|pause|resume|reset|rate|top|serve)
		specs+=('1:process:_pids')
		;;
	*) specs+=('*:file:_files') ;;
	esac
	shift words
	(( CURRENT-- ))
	_arguments $specs
}

_heapinject "$@"
