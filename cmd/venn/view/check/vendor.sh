#!/usr/bin/env bash
# Holds the vendored files against the npm packages that they come from; with --update it copies them anew.
# It needs npm and its registry.
set -euo pipefail
cd "$(dirname "$0")/../web/vendor"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep -v '^#' SOURCES.tsv | while IFS=$'\t' read -r file package version path _ sum; do
	if [ ! -d "$work/$package" ]; then
		(cd "$work" && npm pack --silent "$package@$version" >/dev/null)
		mkdir "$work/$package"
		tar xzf "$work/$package-$version.tgz" -C "$work/$package"
	fi
	[ "${1:-}" != --update ] || cp "$work/$package/package/$path" "$file"
	echo "$sum  $file" | sha256sum --check --quiet
	cmp "$work/$package/package/$path" "$file"
done
echo "vendored files are those of npm"
