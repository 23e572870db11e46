#!/usr/bin/env bash
# slow: three times as many kinds of files
ELF_EDIT_EVERY=1 exec bash "$(dirname "$0")/elf_edit.sh"
