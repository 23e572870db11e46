#!/usr/bin/env bash
# The completion scripts, loaded by the shells themselves.
set -eu

check() { # WHAT WORDS WANTED
	case " $(echo $2) " in
	*" $3 "*) echo "ok $1" ;;
	*)
		echo "not ok $1: '$3' is not among: $2"
		exit 1
		;;
	esac
}

# bash: complete a command line as readline does, and print the answers.
bash_complete() {
	"$ROCSMITH" completion bash >"$E2E_TMP/rocsmith.bash"
	bash -e -c '
		. "$1"; shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		fn=$(complete -p rocsmith | sed "s/.*-F \([^ ]*\).*/\1/")
		"$fn" rocsmith "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" || [ $? = 1 ]
		printf "%s\n" "${COMPREPLY[@]}"' bash "$E2E_TMP/rocsmith.bash" "$@"
}

# the script asks the program that is in PATH
mkdir -p "$E2E_TMP/bin" "$E2E_TMP/home/data/sdk/debian-of-test"
ln -sf "$ROCSMITH" "$E2E_TMP/bin/rocsmith"
echo '{}' >"$E2E_TMP/home/data/sdk/debian-of-test/sdk.json"
export ROCSMITH_HOME=$E2E_TMP/home PATH=$E2E_TMP/bin:$PATH
check 'bash completes commands' "$(bash_complete rocsmith '')" help
check 'bash completes part of a command' "$(bash_complete rocsmith comp)" completion
check 'bash completes options' "$(bash_complete rocsmith help --)" --json
check 'bash completes options of one command' "$(bash_complete rocsmith report --o)" --output
check 'bash completes shells' "$(bash_complete rocsmith completion z)" zsh
check 'bash completes suites' "$(bash_complete rocsmith sdk install --suite t)" trixie
check 'bash completes GPUs' "$(bash_complete rocsmith build --gpu gfx120)" gfx1201
check 'bash completes the last of a list' "$(bash_complete rocsmith build --gpu gfx90a,gfx120)" gfx90a,gfx1201
check 'bash completes components' "$(bash_complete rocsmith sdk install --components hipr)" hiprand
check 'bash completes SDKs' "$(bash_complete rocsmith sdk run --sdk '')" debian-of-test
check 'bash completes SDKs as arguments' "$(bash_complete rocsmith sdk remove deb)" debian-of-test
[ -z "$(bash_complete rocsmith report --comp)" ] || { echo 'not ok bash invents options'; exit 1; }
echo 'ok bash completes nothing where nothing fits'

if command -v zsh >/dev/null; then
	"$ROCSMITH" completion zsh >"$E2E_TMP/_rocsmith"
	zsh -f -c 'autoload -Uz compinit && compinit -u -D && fpath=($1 $fpath) &&
		autoload -Uz +X _rocsmith && [[ ${+functions[_rocsmith]} = 1 ]]' zsh "$E2E_TMP"
	echo 'ok zsh loads the function'
else
	echo 'skip zsh is not installed'
fi

if command -v fish >/dev/null; then
	"$ROCSMITH" completion fish >"$E2E_TMP/rocsmith.fish"
	fish_complete() {
		HOME=$E2E_TMP fish --no-config -c "source '$E2E_TMP/rocsmith.fish'; complete -C '$1'" |
			cut -f 1
	}
	check 'fish completes commands' "$(fish_complete 'rocsmith comp')" completion
	check 'fish completes shells' "$(fish_complete 'rocsmith completion z')" zsh
	check 'fish completes GPUs' "$(fish_complete 'rocsmith build --gpu gfx120')" gfx1201
	check 'fish completes SDKs' "$(fish_complete 'rocsmith sdk remove deb')" debian-of-test
	check 'fish completes options' "$(fish_complete 'rocsmith report --o')" --output
else
	echo 'skip fish is not installed'
fi
