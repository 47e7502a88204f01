#!/bin/sh
# Builds one engine's side of the comparison into a folder, and prints the command that starts it.
#
#   build.sh gannet|gannet-avx2|gannet-baseline|tantivy|lucene|lucene-vectors <work folder>
#
# gannet-avx2 and gannet-baseline are the same program on a processor without AVX-512, and without AVX2, as far as the kernel sees.
# lucene-vectors is what bench/vectors compares with.
#
# Exits 3, with a line saying why, where the machine lacks what the engine needs.
set -e
cd "$(dirname "$0")"
WORK="$2"
HERE="$PWD"
LUCENE_VERSION=10.6.0
JAVA_FEATURE_MIN=21

missing() {
  echo "$1" >&2
  exit 3
}

case "$1" in
gannet | gannet-avx2 | gannet-baseline)
  cd ../../native-bindings
  BUILD="$WORK/build-gannet"
  make -s BUILD="$BUILD" fast >&2
  LMDB=../node_modules/lmdb/dependencies/lmdb-data-v1/libraries/liblmdb
  ${CXX:-g++} -std=c++20 -O3 -DNDEBUG -ffp-contract=off -I kernel -isystem "$LMDB" -pthread -o "$WORK/gannet-peer" \
    "$HERE/gannet/peer.cc" $(ls kernel/*/*.cc | sed "s|^|$BUILD/fast/|; s|\.cc$|.o|") \
    "$BUILD"/fast/*.o "$BUILD"/fast/snowball/*.o
  INSTRUCTIONS="${1#gannet}"
  echo "${INSTRUCTIONS:+env GANNET_KERNEL_INSTRUCTIONS=${INSTRUCTIONS#-} }$WORK/gannet-peer"
  ;;
tantivy)
  command -v cargo >/dev/null || missing "cargo is not installed"
  mkdir -p "$WORK/tantivy-source"
  cp -R tantivy/. "$WORK/tantivy-source"
  cd "$WORK/tantivy-source"
  cargo build --quiet --release --target-dir "$WORK/build-tantivy" >&2 || missing "the crate could not be built"
  echo "$WORK/build-tantivy/release/tantivy-peer"
  ;;
lucene | lucene-vectors)
  JAVA_BIN="${JAVA_HOME:+$JAVA_HOME/bin/}"
  command -v "${JAVA_BIN}javac" >/dev/null || missing "no JDK: set JAVA_HOME"
  command -v mvn >/dev/null || missing "mvn, which fetches the jar, is not installed"
  FEATURE=$("${JAVA_BIN}javac" -version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
  [ "$FEATURE" -ge "$JAVA_FEATURE_MIN" ] || missing "Lucene $LUCENE_VERSION needs Java $JAVA_FEATURE_MIN, this is $FEATURE: set JAVA_HOME"
  JAR="$WORK/lucene-core-$LUCENE_VERSION.jar"
  [ -f "$JAR" ] || mvn -q dependency:copy "-Dartifact=org.apache.lucene:lucene-core:$LUCENE_VERSION" \
    "-DoutputDirectory=$WORK" >&2 || missing "the jar could not be fetched"
  SOURCES=lucene
  CLASS=LucenePeer
  if [ "$1" = lucene-vectors ]; then
    SOURCES=../vectors/lucene
    CLASS=LuceneVectors
  fi
  "${JAVA_BIN}javac" -cp "$JAR" -d "$WORK/build-$1" "$SOURCES"/*.java
  VECTORS=
  "${JAVA_BIN}java" --list-modules | grep -q jdk.incubator.vector && VECTORS="--add-modules jdk.incubator.vector"
  echo "${JAVA_BIN}java -Xms4g -Xmx4g -XX:+UseSerialGC $VECTORS --enable-native-access=ALL-UNNAMED" \
    "-cp $JAR:$WORK/build-$1 $CLASS"
  ;;
esac
