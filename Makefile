# A thin front for meson and ninja; CONTRIBUTING.md says more.
#
#   make          build/rocsmith        make check       what is proved in some twenty minutes on 2 CPUs
#   make demo     out/demo/*.whl        make check-fast  the same without scripts: two minutes, no network
#   make bench    us against peers      make check-slow  all of PyTorch, long fuzzing, hundreds of kills
#   make doc      build/doc: the pages  make install     PREFIX=/usr/local DESTDIR=
#   make dist     dist/: the program as one file for any Linux; a tarball, a wheel, a .deb, a PKGBUILD

BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
FUZZ_MINUTES ?= 40
ARCHS ?= x86_64 aarch64

all: $(BUILD)/build.ninja
	@ninja -j$(JOBS) -C $(BUILD) --quiet app

deps:
	@tools/deps build check

$(BUILD)/build.ninja:
	@tools/deps build
	meson setup $(BUILD) --prefix=$(PREFIX)

doc: $(BUILD)/build.ninja
	@ninja -j$(JOBS) -C $(BUILD) --quiet doc

demo: all
	@tools/deps build demo
	@tools/demo.sh $(BUILD)/rocsmith out/demo

check: deps
	@tools/check --jobs $(JOBS)

check-fast: deps
	@tools/check --jobs $(JOBS) --fast

check-slow: deps
	@tools/check --jobs $(JOBS) --slow --fuzz-minutes $(FUZZ_MINUTES)

bench: all
	@tools/deps build bench
	@ninja --quiet -C $(BUILD) tools/measure
	@bench/run --rocsmith $(BUILD)/rocsmith

install: $(BUILD)/build.ninja
	meson configure $(BUILD) --prefix=$(PREFIX)
	@ninja -j$(JOBS) -C $(BUILD) --quiet app
	meson install -C $(BUILD) --no-rebuild

dist:
	@tools/deps build dist
	@tools/dist dist $(ARCHS)

clean:
	rm -rf $(BUILD) build-dist build-dist-aarch64 dist build-asan build-fuzz out

.PHONY: all deps doc demo check check-fast check-slow bench install dist clean
