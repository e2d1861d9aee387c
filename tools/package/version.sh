#!/bin/sh
# version.sh - the version that the public header defines, MAJOR.MINOR.PATCH.
cd "$(dirname "$0")/../.." && sed -n 's/^#define LZ_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' include/lazuli/types.h | paste -sd.
