#!/bin/sh
# Runs each fuzz target for a while, as many at a time as there are processors; the last line is "N passed, N failed".
#   smoke.sh ENGINE SECONDS SEED BUILD NAME...        ENGINE: driver (ours) or libfuzzer (clang's)
set -u
engine=$1 seconds=$2 seed=$3 build=$4
shift 4

run_one() {
  name=$1
  crash_file=$build/fuzz-crash-$name
  log=$build/fuzz-smoke-$name.log
  if [ "$engine" = libfuzzer ]; then
    corpus=$build/fuzz-corpus-$name
    mkdir -p "$corpus"
    "$build/fuzz-smoke-$name" --write-seeds "$corpus" &&
      "$build/fuzz-$name" "$corpus" -max_total_time="$seconds" -seed="$seed" -max_len=1048576 -timeout=20 -rss_limit_mb=4096 \
        -artifact_prefix="$crash_file-" >"$log" 2>&1
  else
    "$build/fuzz-smoke-$name" --seconds "$seconds" --seed "$seed" --crash-file "$crash_file" >"$log" 2>&1
  fi
  status=$?
  if [ $status -eq 0 ]; then
    echo "fuzz $name: $(tail -n 1 "$log")"
    : >"$build/fuzz-smoke-$name.passed"
  else
    echo "fuzz $name: FAILED with status $status; the input is in $crash_file (run it with $build/fuzz-smoke-$name FILE)"
    tail -n 60 "$log"
  fi
}

if [ "$engine" = libfuzzer ] && [ ! -x "$build/fuzz-$1" ]; then
  echo "skipped: there is no libFuzzer here; FUZZ_ENGINE=driver needs none"
  echo "0 passed, 0 failed"
  exit 0
fi

at_a_time=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
running=0
for name in "$@"; do
  rm -f "$build/fuzz-smoke-$name.passed"
  run_one "$name" &
  running=$((running + 1))
  if [ "$running" -ge "$at_a_time" ]; then
    wait
    running=0
  fi
done
wait

passed=0 failed=0
for name in "$@"; do
  if [ -e "$build/fuzz-smoke-$name.passed" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
