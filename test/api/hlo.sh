#!/usr/bin/env bash
# hlo.sh - the programs of test/hlo compiled for the CPU, by the lazuli command.
set -u
# shellcheck source=test/steps.bash
. test/steps.bash
take_all
hlo_cases --device cpu
total
