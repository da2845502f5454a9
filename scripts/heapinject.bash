# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Bash completion for heapinject.

_heapinject() {
	local word=$2 previous=$3 command=${COMP_WORDS[1]}
	local views='-t --text --tree --peek --traces --threads --modules --sizes -s --svg --collapsed'
	local filters='--focus --ignore --hide --show --show-from --prune-from --tagfocus --tagignore --functions --files --lines --addresses --no-inlines --trim-path
		--source-path --nodecount --nodefraction --edgefraction --no-trim --unit --show-bytes --base --diff-base'
	local types='--inuse-space --inuse-objects --alloc-space --alloc-objects'
	COMPREPLY=()
	if [[ $COMP_CWORD -eq 1 ]]; then
		mapfile -t COMPREPLY < <(compgen -W 'check attach detach report help --help --version' -- "$word")
		return
	fi
	case $command:$previous in
	attach:--loader) mapfile -t COMPREPLY < <(compgen -W 'map dlopen' -- "$word") ;;
	attach:-o | attach:--output | report:-o | report:--output | report:-p | report:--binary) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
	attach:-s | attach:--duration | attach:-c | attach:--sample | attach:--max-overhead | attach:--live-max | report:-n | report:--limit) ;;
	report:--base | report:--diff-base) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
	report:--unit) mapfile -t COMPREPLY < <(compgen -W 'auto bytes kb mb gb tb' -- "$word") ;;
	report:--sort) mapfile -t COMPREPLY < <(compgen -W 'flat cum' -- "$word") ;;
	help:*) mapfile -t COMPREPLY < <(compgen -W 'check attach detach report' -- "$word") ;;
	check:* | attach:* | detach:*)
		if [[ $word == -* ]]; then
			[[ $command != check ]] || mapfile -t COMPREPLY < <(compgen -W '--json' -- "$word")
			[[ $command != attach ]] || mapfile -t COMPREPLY < <(compgen -W '--duration --sample --max-overhead --live-max --output --loader --quiet --verbose -s -c -o -q -v' -- "$word")
		else
			mapfile -t COMPREPLY < <(cd /proc && compgen -G "$word*" | grep -x '[0-9]*')
		fi
		;;
	report:*)
		if [[ $word == -?* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$views $types $filters -p --binary -n --limit --sort --intervals --details -o --output" -- "$word")
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
		fi
		;;
	esac
}
complete -o filenames -F _heapinject heapinject
