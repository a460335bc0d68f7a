#!/usr/bin/env bash
# Holds the vendored files against the npm packages that they come from. With --update it copies those of the versions that
# SOURCES.tsv names, and writes their SHA-256 there. It needs npm and its registry.
set -euo pipefail
cd "$(dirname "$0")/../web/vendor"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep '^#' SOURCES.tsv >"$work/SOURCES.tsv"
grep -v '^#' SOURCES.tsv | while IFS=$'\t' read -r file package version path licence sum; do
	if [ ! -d "$work/$package" ]; then
		(cd "$work" && npm pack --silent "$package@$version" >/dev/null)
		mkdir "$work/$package"
		tar xzf "$work/$package-$version.tgz" -C "$work/$package"
	fi
	if [ "${1:-}" = --update ]; then
		cp "$work/$package/package/$path" "$file"
		sum=$(sha256sum <"$file" | cut -d ' ' -f 1)
		printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$file" "$package" "$version" "$path" "$licence" "$sum" >>"$work/SOURCES.tsv"
	fi
	echo "$sum  $file" | sha256sum --check --quiet
	cmp "$work/$package/package/$path" "$file"
done
[ "${1:-}" != --update ] || cp "$work/SOURCES.tsv" SOURCES.tsv
echo "vendored files are those of npm"
