# A thin front for meson and ninja; CONTRIBUTING.md says more.
#
#   make          build/rocsmith        make check       all that is proved in a quarter of an hour
#   make demo     out/demo/*.whl        make check-slow  long fuzzing, hundreds of kills
#   make bench    us against peers      make install     PREFIX=/usr/local DESTDIR=
#   make doc      build/doc: the man pages, and diagnoses.md, all that explain and doctor know

BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
FUZZ_MINUTES ?= 40

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

clean:
	rm -rf $(BUILD) build-asan build-fuzz out

.PHONY: all deps doc demo check check-slow bench install clean
