#!/usr/bin/env bash
# slow: a browser, which tools/deps installs where it is missing (90 MB)
# The report of a build and the size map in a headless Chromium, at the widths of a phone and of a desk, light and dark: nothing in
# the console, no request, text within the page and readable, no GPU's name on two lines; for documents that want to break it.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
"$top/tools/deps" pages || {
	echo 'skip pages: no Chromium can be had'
	exit 0
}
cd "$E2E_TMP"
python3 "$top/tests/oracle/pages.py" "$ROCSMITH" .
"$ROCSMITH" report -q -o report.html build.json >/dev/null
"$ROCSMITH" report -q -o failed.html failed.json >/dev/null
"$ROCSMITH" inspect -q --html map.html code >/dev/null
"$ROCSMITH" inspect -q --html maps.html code/libtorch_hip.so code/x.so >/dev/null
python3 "$top/tests/oracle/browser.py" chromium report.html failed.html map.html maps.html
echo 'ok the report and the size map are whole at 360 and 1280 pixels, light and dark'

# The one who looks must see: each of these pages has one thing wrong.
spoil() { # WHAT SED
	sed "$2" report.html >spoilt.html
	if cmp -s report.html spoilt.html || python3 "$top/tests/oracle/browser.py" chromium spoilt.html >spoilt.txt; then
		echo "not ok $1 is not noticed"
		exit 1
	fi
	grep -q "$3" spoilt.txt
}
spoil 'text that is too wide' 's/<h2 /<h2 style="white-space:nowrap;width:90em" /' 'pixels wide'
spoil 'a name on two lines' 's/\.gpu{[^}]*}/.gpu{display:inline-block;max-width:3em;overflow-wrap:anywhere}/' 'broken over lines'
spoil 'a picture from elsewhere' 's/<footer>/<img src="http:..x.invalid.y"><footer>/' 'console\|request'
spoil 'a script' 's/<footer>/<script>void 0<.script><footer>/' 'script'
spoil 'pale text' 's/--fg:#1b1f24/--fg:#c0c0c0/' contrast
echo 'ok five spoilt pages are told from good ones'
