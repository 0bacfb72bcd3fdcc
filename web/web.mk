# web/web.mk -- the page: npm files by version, then everything embedded.
#
#   $B/gen/assets.o   web/ and Chart.js as a table of struct asset (server/assets.h)
#   make web-test     types (tsc over JSDoc) and the unit tests of js/model
#   make web-e2e      the page in Chromium, against $B/breakeven
#
# esbuild joins the scripts and styles of a page, without comments and blanks; names stay.
# What a page imports when it is opened is a file of its own.  $B/gen/web is laid out as the
# URLs are: index.html, and assets/ for the rest.

WEB_MODULES := web/node_modules/.package-lock.json
WEB_CODE := $(wildcard web/css/*.css web/js/*.js web/js/*/*.js)
WEB_FILES := $(wildcard web/examples/*.json web/suite/*.py)
# What is loaded by its name: by index.html, as a worker, or by loadStyle().
WEB_ENTRIES := $(addprefix web/,js/main.js js/theme.js js/layout_worker.js \
	css/main.css css/compare.css css/guards.css css/memory.css css/picker.css css/suites.css)
ESBUILD := web/node_modules/.bin/esbuild --bundle --splitting --chunk-names=js/[name]-[hash] --format=esm --minify-whitespace \
	--minify-syntax --charset=utf8 --log-level=warning

# npm writes this file last.  The lock keeps two makes from installing at once.
$(WEB_MODULES): web/package.json web/package-lock.json
	@command -v npm >/dev/null || { echo "make: npm is missing: run make deps, or install the packages nodejs and npm"; exit 2; }
	flock web/package-lock.json sh -c '[ $@ -nt web/package-lock.json ] || (cd web && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)'
	@touch $@

$B/gen/assets.o: web/index.html web/icon.svg $(WEB_CODE) $(WEB_FILES) web/embed.sh web/web.mk $(WEB_MODULES)
	rm -rf $B/gen/web
	mkdir -p $B/gen/web/assets/vendor
	cp web/index.html $B/gen/web/
	cp web/icon.svg $B/gen/web/assets/
	$(ESBUILD) $(WEB_ENTRIES) --outbase=web --outdir=$B/gen/web/assets
	cd web && cp --parents $(WEB_FILES:web/%=%) $(abspath $B)/gen/web/assets/
	cp web/node_modules/chart.js/dist/chart.umd.min.js $B/gen/web/assets/vendor/
	cp web/node_modules/chart.js/LICENSE.md $B/gen/web/assets/vendor/chart.js.LICENSE.txt
	sh web/embed.sh $B/gen/web $B/gen/assets.S
	$(CC) -c $B/gen/assets.S -o $@

.PHONY: web-test web-e2e
web-test: $(WEB_MODULES)
	cd web && npx --no-install tsc -p tsconfig.json
	node --test $(wildcard tests/web/*.test.mjs)

web-e2e: $B/breakeven $(WEB_MODULES)
	BREAKEVEN=$B/breakeven node --test $(wildcard tests/e2e/*.test.mjs)
