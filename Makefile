# SPDX-License-Identifier: Apache-2.0
# A thin front for CMake. "make demo" and "make test" are all that a newcomer needs.

BUILD ?= build
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
# The CUDA module: AUTO builds it where nvcc is found, which takes minutes; ON, OFF.
CUDA ?= AUTO
# More options for CMake, such as -DTAMIS_WERROR=ON.
FLAGS ?=
CONFIGURE = cmake -S . -B $(BUILD) -G Ninja -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DTAMIS_CUDA=$(CUDA) \
 $(FLAGS)

all: configure ## build everything into build/, installing nothing
	cmake --build $(BUILD) -j $(JOBS)

configure:
	@$(CONFIGURE) >$(BUILD).log 2>&1 || { cat $(BUILD).log; \
	 echo "make: the build could not be configured; 'make setup' installs what it needs"; exit 1; }
	@sed -n '/ left out:/s/^-- /make: /p' $(BUILD).log
	@rm -f $(BUILD).log

setup: ## install what the build needs (Debian packages)
	sh scripts/setup.sh

demo: setup configure ## filter a noisy photo; writes build/demo/ and says where
	cmake --build $(BUILD) -j $(JOBS) --target tamis_command
	sh demo/demo.sh $(BUILD)

test: ## install what the tests need and run all of them
	sh scripts/setup.sh test
	$(MAKE) all CUDA=OFF # kernels for GPUs are tested as the CPU runs them
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

python: ## build the Python package and test it in a virtual environment (build/venv)
	sh scripts/setup.sh python
	$(MAKE) configure CUDA=OFF
	sh scripts/python.sh $(BUILD)

wheel: ## build a wheel of the Python package for other machines into build-wheel/dist
	sh scripts/setup.sh python
	sh scripts/wheel.sh build-wheel TAMIS_CUDA=$(CUDA)

bench: all ## time tamis beside its peers (see bench/README.md)
	sh bench/peers/setup.sh $(BUILD)
	bench/peers/run.py --build $(BUILD) --quick

docs: all ## regenerate filters/*/*.md from the parameter tables
	sh scripts/docs.sh $(BUILD)

format: ## format all C sources
	git ls-files '*.c' '*.h' '*.cu' '*.cuh' '*.cpp' | xargs clang-format -i

fuzz: ## fuzz the chain parser and the file readers for 30 seconds each
	sh scripts/setup.sh ci
	sh scripts/fuzz.sh

install: all ## install under PREFIX (/usr/local)
	cmake --install $(BUILD)

deb: all ## build Debian packages into build/deb: tamis, tamis-dev, and what is built of tamis-video, -vips, -cuda
	sh scripts/setup.sh deb
	sh scripts/deb.sh $(BUILD)

clean: ## remove the build
	rm -rf $(BUILD)

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## /  make \1 \t/p' Makefile

# With make -j, too, what is missing is installed before anything is built.
.NOTPARALLEL:

.PHONY: all configure setup demo test python wheel bench docs format fuzz install deb clean help
