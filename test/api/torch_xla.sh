#!/usr/bin/env bash
# torch_xla.sh - the package torch_xla_lazuli as a user of torch_xla has it: the wheel's files, found by torch_xla itself; operations
# and a training, against torch.
# LZ_TORCH_PYTHON: the python with torch_xla, 2.7 or later; skipped where there is none.
# shellcheck disable=SC2154  # tmp is that of steps.bash
set -u
# shellcheck source=test/steps.bash
. test/steps.bash
python=${LZ_TORCH_PYTHON:-python3}
if ! PJRT_DEVICE=CPU "$python" -c 'import torch_xla' 2>/dev/null; then
    echo "skipped: $python has no torch_xla"
    exit 77
fi
case $(cat "$BUILD/flags") in *-fsanitize*)
    echo 'skipped: python is not built with the sanitizer'
    exit 77
    ;;
esac
wheel() { python3 tools/wheel.py torch 0.0.1 "$BUILD/libpjrt_lazuli.so" "$tmp" && "$python" -m zipfile -e "$tmp"/torch_xla_lazuli-*.whl "$tmp/site"; }
step 'the wheel' wheel || { total; exit 1; }
export PYTHONPATH=$tmp/site XDG_CACHE_HOME=$tmp/cache PJRT_DEVICE=LAZULI
unset XLA_STABLEHLO_COMPILE LAZULI_PJRT_PLUGIN LAZULI_PJRT_PLATFORM
found() {
    timeout 100 "$python" -c 'import torch_xla; import torch_xla.core.xla_model as xm; print(xm.xla_device_hw(torch_xla.device()))' >"$tmp/out" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
    [ "$(tail -1 "$tmp/out")" = LAZULI ]
}
step 'torch_xla finds the plugin' found
what() { timeout 300 "$python" test/api/torch_xla_cases.py "$@" >"$tmp/out" 2>"$tmp/err" || { cat "$tmp/err" "$tmp/out"; return 1; }; }
step 'operations' what operations
step 'a training' what training
total
