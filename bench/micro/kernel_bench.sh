#!/bin/sh
# Builds kernel_bench.cc with the kernel, optimised, and runs it. Arguments: documents, words per document.
set -e
cd "$(dirname "$0")/../../native-bindings"
BUILD="${BUILD:-build-test}"
LMDB=../node_modules/lmdb/dependencies/lmdb-data-v1/libraries/liblmdb
OBJECTS=$(ls kernel/*/*.cc | sed "s|^|$BUILD/fast/|; s|\.cc$|.o|")
make -s BUILD="$BUILD" fast
${CXX:-g++} -std=c++20 -O3 -DNDEBUG -I kernel -isystem "$LMDB" -pthread -o "$BUILD/kernel-bench" \
  ../bench/micro/kernel_bench.cc $OBJECTS "$BUILD"/fast/*.o "$BUILD"/fast/snowball/*.o
exec "$BUILD/kernel-bench" "$@"
