# web/web.mk -- the page: npm files by version, then everything embedded.
#
#   $B/gen/assets.o   web/ and Chart.js as a table of struct asset (server/text/text.h)
#   make web-test     types (tsc over JSDoc) and the unit tests of js/model
#   make web-e2e      the page in Chromium, against $B/breakeven
#
# esbuild joins the scripts and styles of a page, without comments and blanks and with short names: a tenth
# fewer bytes.  A view is a file of its own, and what many of them share is one more (js/shared.js).  The
# editor, with CodeMirror in it, is one apart.
# $B/gen/web is laid out as the URLs are: index.html, and assets/ for the rest.

WEB_MODULES := web/node_modules/.package-lock.json
WEB_CODE := $(wildcard web/css/*.css web/js/*.js web/js/*/*.js)
WEB_FILES := web/client.py $(wildcard web/examples/*.json web/models/*.py web/suite/*.py)
WEB_DOCS := $(wildcard web/docs/*.md web/docs/images/*)
# Modules that are loaded by their names, by index.html or ahead (server/http/views.def) ...
WEB_MODULES_NAMED := $(addprefix web/js/,main.js $(addprefix view/,$(addsuffix .js,api breaks compare compiles digest docs graphs guards history import_overview \
	kernels memory missing new ops overview passes ranks run runs source suite suites timeline torch_tab webhooks)))
# ... and what is by index.html or by loadStyle().
WEB_ENTRIES := $(addprefix web/,js/theme.js \
	css/main.css css/compare.css css/compiles.css css/docs.css css/guards.css css/memory.css css/picker.css css/ranks.css css/suites.css)
ESBUILD := web/node_modules/.bin/esbuild --bundle --format=esm --minify --charset=utf8 \
	--log-level=warning --outbase=web

# npm writes this file last.  The lock keeps two makes from installing at once.
$(WEB_MODULES): web/package.json web/package-lock.json
	@command -v npm >/dev/null || { echo "make: npm is missing: run make deps, or install the packages nodejs and npm"; exit 2; }
	flock web/package-lock.json sh -c '[ $@ -nt web/package-lock.json ] || (cd web && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)'
	@touch $@

$B/gen/assets.o: web/index.html web/icon.svg $(WEB_CODE) $(WEB_FILES) $(WEB_DOCS) web/docs/docs.mjs $B/gen/tables.md \
		web/embed.sh web/imports.mjs web/licences.mjs web/web.mk $(WEB_MODULES)
	rm -rf $B/gen/web
	mkdir -p $B/gen/web/assets/vendor
	cp web/index.html $B/gen/web/
	cp web/icon.svg $B/gen/web/assets/
	$(ESBUILD) $(WEB_ENTRIES) --outdir=$B/gen/web/assets
	$(ESBUILD) web/js/view/editor.js --legal-comments=none --metafile=$B/gen/editor.json --outdir=$B/gen/web/assets
	$(ESBUILD) $(WEB_MODULES_NAMED) --external:./editor.js --splitting --inject:web/js/shared.js --chunk-names=js/[name]-[hash] \
		--metafile=$B/gen/web.json --outdir=$B/gen/web/assets
	node web/docs/docs.mjs $B/gen/tables.md $B/gen/web/assets/docs
	node web/imports.mjs $B/gen/web.json > $B/gen/imports
	cd web && cp --parents $(WEB_FILES:web/%=%) $(abspath $B)/gen/web/assets/
	cp web/node_modules/chart.js/dist/chart.umd.min.js $B/gen/web/assets/vendor/
	cp web/node_modules/chart.js/LICENSE.md $B/gen/web/assets/vendor/chart.js.LICENSE.txt
	node web/licences.mjs $B/gen/editor.json > $B/gen/web/assets/vendor/codemirror.LICENSE.txt
	sh web/embed.sh $B/gen/web $B/gen/imports $B/gen/assets.S
	$(CC) -c $B/gen/assets.S -o $@

# What the documentation takes from the tables of the program, and the manual pages.
$B/web/docs/manual.o: ALL_CFLAGS += -DBREAKEVEN_RELEASE='"$(RELEASE)"'
$B/web/docs/manual.o: Makefile
$B/gen/manual: $B/web/docs/manual.o $B/server/text/help.o
	@echo "  LD    $@"
	$(CC) $(LDFLAGS_ALL) $^ -o $@
$B/gen/tables.md: $B/gen/manual
	$< tables > $@
# The types of reports are in git, so that editors and tsc have them; written where they differ.
$B/gen/report.d.ts: $B/gen/manual
	$< types > $@
	cmp -s $@ web/js/api/report.d.ts || cp $@ web/js/api/report.d.ts
all: $B/gen/report.d.ts
$B/man/breakeven.1: $B/gen/manual
	@mkdir -p $(@D)
	$< man $(@D)
all: $B/man/breakeven.1

.PHONY: web-test web-e2e
web-test: $B/breakeven $(WEB_MODULES) $B/gen/report.d.ts
	cd web && npx --no-install tsc -p tsconfig.json
	BREAKEVEN=$B/breakeven node --test $(wildcard tests/web/*.test.mjs)

web-e2e: $B/breakeven $(WEB_MODULES)
	BREAKEVEN=$B/breakeven node --test $(wildcard tests/e2e/*.test.mjs)
