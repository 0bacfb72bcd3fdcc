# deploy/deps.mk -- what Breakeven needs from the system, and how it is got.
#
# `make deps` installs (root or sudo), or prints the line that would.  A plain
# `make` only looks, and names what is missing.

APT_BUILD := gcc make pkg-config libc6-dev libmicrohttpd-dev nettle-dev libjansson-dev libsqlite3-dev libxxhash-dev libzstd-dev libyajl-dev libpcre2-dev zlib1g-dev libzip-dev libseccomp-dev
APT_WEB   := nodejs npm zopfli
# Not needed: large products of matrices are faster with it.
APT_SPEED := libopenblas0-pthread
# Not needed: what is posted to a server goes through it.
APT_POST  := libcurl4-openssl-dev
APT_TEST  := g++ clang lld clang-format clang-tidy libclang-rt-14-dev libcmocka-dev python3 procps
# The browser of the tests: without its windows, or else whole.
APT_BROWSER := chromium-headless-shell
# Not needed: it counts what an import costs.
APT_COUNT := valgrind

# Of `make trial-proxy` alone.
APT_PROXY := nginx-light caddy openssl
# Of `make trial-server` alone.
APT_SPEED_OF_SERVER := nginx-light wrk

# Of `make deb`, and of trials of it on a bare Debian.
APT_DEB := debhelper dpkg-dev
APT_PACKAGE := lintian debootstrap systemd-container curl
APT_IMAGE := debootstrap buildah runc curl
# Stores on PostgreSQL are tried where this is; its client library, libpq5, comes with it.
APT_POSTGRES := postgresql
# A Slurm of one machine, of `make trial-slurm` alone.
APT_SLURM := munge slurmctld slurmd slurm-client

HEADERS_NEEDED := microhttpd.h nettle/sha2.h jansson.h sqlite3.h xxhash.h zstd.h yajl/yajl_parse.h pcre2.h zlib.h zip.h seccomp.h
missing = $(strip $(foreach h,$(HEADERS_NEEDED),$(if $(wildcard /usr/include/$h /usr/include/*/$h /usr/local/include/$h),,$h)))

deps:
	@sh deploy/install-deps.sh $(APT_BUILD) $(APT_WEB)
	@sh deploy/install-deps.sh $(APT_SPEED) || echo "make: going on without $(APT_SPEED): products of matrices are slower"
	@sh deploy/install-deps.sh $(APT_POST) || echo "make: going on without $(APT_POST): breakeven trace --post is not there"
deps-test: deps
	@sh deploy/install-deps.sh $(APT_TEST)
	@sh deploy/install-deps.sh $(APT_BROWSER) || sh deploy/install-deps.sh chromium
	@sh deploy/install-deps.sh $(APT_COUNT) || echo "make: going on without $(APT_COUNT): what an import costs is not counted"
	@sh deploy/install-deps.sh $(APT_POSTGRES) || echo "make: going on without $(APT_POSTGRES): stores on PostgreSQL are not tried"
.PHONY: deps deps-test check-deps

CHECK_DEPS := check-deps
check-deps:
	@[ -z "$(missing)" ] || { echo "make: missing headers: $(missing)"; \
	  echo "make: install them with: make deps   (apt-get install $(APT_BUILD))"; exit 2; }
