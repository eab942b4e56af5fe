# SPDX-License-Identifier: BSD-3-Clause
# The commands of cotejo; `make help` lists them. With Spack on PATH the stack
# comes from spack.yaml, otherwise from the locked wheels in requirements/.

SPACK    ?= $(shell command -v spack 2>/dev/null)
STACK    ?= $(CURDIR)/$(if $(SPACK),.spack-env,.stack)
RESULTS  ?= $(CURDIR)/results
FIGURES  ?= $(CURDIR)/figures
EXHIBITS ?= $(FIGURES)/exhibits
REPORT   ?= $(CURDIR)/report/report.html
TAG      ?= quick
PYTHON    = $(firstword $(wildcard $(STACK)/tools/bin/python) python3)
# R from Spack is in the stack's tools.
export PATH := $(STACK)/tools/bin:$(PATH)
RSCRIPT   = R_LIBS=$(STACK)/R Rscript --vanilla

export COTEJO_STACK = $(STACK)
export COTEJO_RESULTS = $(RESULTS)
export RFM_CONFIG_FILES = $(CURDIR)/reframe_tests/config.py

.DEFAULT_GOAL := help
.PHONY: help stack build verify study figures exhibits report test bench clean distclean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

stack: ## install the MPIs, ReFrame and R; build the benchmarks; verify all of it
ifneq ($(SPACK),)
	@# A fresh Spack would note the compilers in spack.yaml itself, at the first use.
	$(SPACK) -E compiler find
	$(SPACK) -e . install
	python3 stack/spack_complete.py .
else
	python3 stack/wheels.py $(STACK)
endif
	@$(MAKE) --no-print-directory build verify

build: ## build the benchmarks once per MPI, and the R package
	@$(PYTHON) -m stack.build $(STACK)

verify: ## check that each MPI compiles and runs 2 ranks; audit the builds
	@$(PYTHON) -m stack.verify $(STACK)

study: stack ## run the study (TAG=quick, LAUNCHES=n), draw the figures, write the report
	@$(PYTHON) -m reframe_tests.harness.study --tag $(TAG) $(if $(LAUNCHES),--launches $(LAUNCHES))
	@$(MAKE) --no-print-directory figures report

figures: ## draw the figures of the results that are there (RESULTS, FIGURES)
	@$(RSCRIPT) -e 'cotejo::draw_figures("$(RESULTS)", "$(FIGURES)")'

exhibits: ## draw every published figure and table that the results have data for (EXHIBITS)
	@$(RSCRIPT) -e 'cotejo::draw_exhibits("$(RESULTS)", "$(EXHIBITS)")'

report: ## write the report of the results that are there (RESULTS, REPORT)
	@$(RSCRIPT) -e 'cotejo::write_report("$(RESULTS)", "$(REPORT)")'

test: stack ## run all tests: C under every MPI, R, Python, and launch to report
ifneq ($(SPACK),)
	@python3 stack/wheels.py --tools $(CURDIR)/.stack
endif
	@STACK=$(STACK) TOOLS=$(CURDIR)/.stack/tools/bin bash tests/run.sh

bench: stack ## hold the project against its goals, in ratios
	@$(PYTHON) -m tests.bench $(STACK)
	@$(PYTHON) -m tests.bench_kernels $(STACK)

clean: ## remove builds, stages, figures and the report; results stay
	rm -rf $(STACK)/build $(STACK)/reframe $(FIGURES) $(dir $(REPORT))

distclean: clean ## remove the embedded stack too; results stay
	rm -rf $(CURDIR)/.stack
