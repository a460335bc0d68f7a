#!/usr/bin/env bash
# Builds what a release has, for linux, darwin and windows on amd64 and arm64: release.sh [FOLDER [OS/ARCH…]]. FOLDER (out/release)
# gets an archive for each with the program, man pages, completion files, the unit and the licences, and SHA256SUMS of all. The same
# revision and Go give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../../.."
out=${1:-out/release}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=({linux,darwin,windows}/{amd64,arm64})
version=$(git describe --tags --always --dirty)
when=$(git log -1 --format=%ct)
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go run ./cmd/venn docs "$work/docs" >/dev/null
for target in "${targets[@]}"; do
	os=${target%/*} arch=${target#*/}
	name=venn-$version-$os-$arch
	dir=$work/$name
	mkdir "$dir"
	cp -r "$work/docs/." LICENSE-APACHE LICENSE-MIT README.md CHANGELOG.md "$dir"
	program=venn
	[ "$os" != windows ] || program=venn.exe
	[ "$os" != linux ] || cp cmd/venn/dist/venn.service "$dir"
	CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -ldflags="-s -w" -o "$dir/$program" ./cmd/venn
	tar --sort=name --mtime="@$when" --owner=0 --group=0 --numeric-owner -C "$work" -c "$name" | gzip -n -9 >"$out/$name.tar.gz"
	rm -r "$dir"
	echo "$out/$name.tar.gz"
done
(cd "$out" && sha256sum venn-"$version"-*.tar.gz >SHA256SUMS)
