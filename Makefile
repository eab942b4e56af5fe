# SPDX-License-Identifier: BSD-3-Clause
# The commands of cotejo; `make help` lists them. With Spack on PATH the stack
# comes from spack.yaml, otherwise from the locked wheels in requirements/.

SPACK    ?= $(shell command -v spack 2>/dev/null)
STACK    ?= $(CURDIR)/$(if $(SPACK),.spack-env,.stack)
# DATA=reference reads the dataset in the repository in place of one's own results.
DATA     ?= results
RESULTS  ?= $(CURDIR)/$(if $(filter reference,$(DATA)),data/reference,results)
PUBLISHED = $(CURDIR)/data/published
FIGURES  ?= $(CURDIR)/figures
REPORT   ?= $(CURDIR)/report/report.html
PAPER    ?= $(CURDIR)/report/paper.html
PROOF    ?= $(CURDIR)/proof
PROOF_RESULTS = $(if $(filter reference,$(DATA)),$(CURDIR)/data/proof,$(PROOF)/results)
REFERENCE ?= $(CURDIR)/data/reference
SAMPLES  ?= 20
TAG      ?= quick
PYTHON    = $(firstword $(wildcard $(STACK)/tools/bin/python) python3)
# R from Spack is in the stack's tools.
export PATH := $(STACK)/tools/bin:$(PATH)
RSCRIPT   = R_LIBS=$(STACK)/R Rscript --vanilla

export COTEJO_STACK = $(STACK)
export COTEJO_RESULTS = $(RESULTS)
export RFM_CONFIG_FILES = $(CURDIR)/reframe_tests/config.py

.DEFAULT_GOAL := help
.PHONY: help stack test-packages build verify study locked-study locked-proof figures report paper proof proof-page reference \
        compare-layers \
        site check-site references test bench clean distclean

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

# The cores of this machine are taken before anything compiles or launches on them.
LOCKED = @$(PYTHON) -m reframe_tests.harness.cores $(MAKE) --no-print-directory
# Figures and report of what is there are made however the study ended; its status is kept.
study: ## run the study (TAG=quick, CELLS=regex, LAUNCHES=n, or UNTIL=3% BUDGET=20m), figures, report
	$(LOCKED) locked-study

locked-study: stack
	@status=0; \
	  $(PYTHON) -m reframe_tests.harness.study --tag $(TAG) \
	  $(if $(LAUNCHES),--launches $(LAUNCHES)) \
	  $(if $(UNTIL),--until $(UNTIL)) $(if $(BUDGET),--budget $(BUDGET)) \
	  $(if $(CELLS),--cells '$(CELLS)') || status=$$?; \
	  case $$status in 0|3|4) $(MAKE) --no-print-directory figures report || status=$$?;; esac; \
	  exit $$status

figures: ## draw every figure and exhibit that the data carry (DATA=reference, RESULTS, FIGURES)
	@$(RSCRIPT) -e 'cotejo::draw_all("$(RESULTS)", "$(FIGURES)", published = "$(PUBLISHED)")'

report: ## write the report of the data that are there (DATA=reference, RESULTS, REPORT)
	@$(RSCRIPT) -e 'cotejo::write_report("$(RESULTS)", "$(REPORT)", published = "$(PUBLISHED)")'

paper: ## write the paper, every number of it computed (DATA=reference, RESULTS, PAPER)
	@$(RSCRIPT) -e 'cotejo::write_paper("analysis/paper.Rmd", "$(RESULTS)", "$(PAPER)", published = "$(PUBLISHED)")'

proof: ## prove the statistics on launches with planted differences (LAUNCHES=30, CELLS); adds a session
	$(LOCKED) locked-proof

locked-proof: stack
	@COTEJO_RESULTS=$(PROOF)/results $(PYTHON) -m reframe_tests.harness.study --tag proof \
	  --launches $(or $(LAUNCHES),30) $(if $(CELLS),--cells '$(CELLS)')
	@$(MAKE) --no-print-directory proof-page

proof-page: ## write the page of the proof from the sessions that are there (DATA=reference, PROOF)
	@$(RSCRIPT) -e 'cotejo::write_proof("$(PROOF_RESULTS)", "$(PROOF)/proof.html")'

reference: ## pack results for the repository (RESULTS, REFERENCE, SAMPLES=20 of each group)
	@$(PYTHON) -m reframe_tests.harness.dataset $(RESULTS) $(REFERENCE) --samples $(SAMPLES)

compare-layers: ## hold each layer of a site against the one below (SITE=local; DATA, RESULTS)
	@$(RSCRIPT) -e 'cotejo::print_layers("$(RESULTS)", "$(or $(SITE),local)")'

# Stops a recipe that needs a variable which was not given.
given = $(if $($(1)),,$(error $@: give $(1)=x))

site: ## write site_configs/NAME from what is found on this machine (NAME=x)
	@$(call given,NAME)$(PYTHON) -m reframe_tests.harness.new_site $(NAME)

check-site: ## check a site's files, then launch once per placement and MPI (NAME=x)
	@$(call given,NAME)$(PYTHON) -m reframe_tests.harness.check_site $(NAME)

references: ## compute a site's reference intervals from its results (SITE=x)
	@$(call given,SITE)$(PYTHON) -m reframe_tests.harness.references $(SITE)

test-packages: # before the stack, which builds with what it finds
	@python3 stack/wheels.py --test-packages $(STACK)

test: test-packages stack ## run all tests: C under every MPI, R, Python, and launch to report
ifneq ($(SPACK),)
	@python3 stack/wheels.py --tools $(CURDIR)/.stack
endif
	@STACK=$(STACK) TOOLS=$(CURDIR)/.stack/tools/bin bash tests/run.sh

bench: stack ## hold the project against its goals, in ratios
	@$(PYTHON) -m tests.bench $(STACK)
	@$(PYTHON) -m tests.bench_analysis $(STACK)
	@$(PYTHON) -m tests.bench_sites $(STACK)
	@$(PYTHON) -m tests.bench_kernels $(STACK)

clean: ## remove builds, stages, figures and the report; results stay
	rm -rf $(STACK)/build $(STACK)/reframe $(FIGURES) $(dir $(REPORT))

distclean: clean ## remove the embedded stack too; results stay
	rm -rf $(CURDIR)/.stack
