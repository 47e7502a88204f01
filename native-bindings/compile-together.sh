#!/bin/sh
# Compiles several C++ files as one, which reads what they include once:
#   compile-together.sh OBJECT COMPILER-AND-FLAGS... -- FILE...
# Beside OBJECT it leaves OBJECT's .d for make. Where two of the files give the same name to something of their own (in an anonymous
# namespace), or one has a mistake, they are compiled one by one and linked to OBJECT.
set -eu
object=$1
shift
base=${object%.o}
command=
while [ "$1" != -- ]; do
  command="$command $1"
  shift
done
shift
mkdir -p "$(dirname "$object")"

for file in "$@"; do echo "#include \"$PWD/$file\""; done >"$base.cc"
if $command -MMD -MP -MT "$object" -MF "$base.d" -c -o "$object" "$base.cc" 2>"$base.log"; then exit 0; fi

parts=
: >"$base.d"
for file in "$@"; do
  part=$base-$(basename "$file" .cc)
  $command -MMD -MP -MT "$object" -MF "$part.part" -c -o "$part.o" "$file"
  cat "$part.part" >>"$base.d"
  parts="$parts $part.o"
done
echo "compiled one by one, because of names that meet: $*" >&2
grep -m 3 'error' "$base.log" >&2 || true
ld -r -o "$object" $parts
