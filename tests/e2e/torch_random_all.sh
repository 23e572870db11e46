#!/usr/bin/env bash
# slow: ten times as many
PROJECTS=${PROJECTS:-1000} exec bash "$(dirname "$0")/torch_random.sh"
