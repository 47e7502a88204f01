#!/bin/sh
# Builds a program of this folder with the kernel, optimised, and runs it: kernel_bench.cc, or the one that PROGRAM names. Arguments are
# the program's.
set -e
cd "$(dirname "$0")/../../native-bindings"
BUILD="${BUILD:-build-test}"
PROGRAM="${PROGRAM:-kernel_bench}"
LMDB=../node_modules/lmdb/dependencies/lmdb-data-v1/libraries/liblmdb
OBJECTS=$(ls kernel/*/*.cc | sed "s|^|$BUILD/fast/|; s|\.cc$|.o|")
make -s BUILD="$BUILD" fast
${CXX:-g++} -std=c++20 -O3 -DNDEBUG -I kernel -isystem "$LMDB" -pthread -o "$BUILD/$PROGRAM" \
  "../bench/micro/$PROGRAM.cc" $OBJECTS "$BUILD"/fast/*.o "$BUILD"/fast/snowball/*.o
exec "$BUILD/$PROGRAM" "$@"
