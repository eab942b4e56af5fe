# SPDX-License-Identifier: BSD-3-Clause
# The commands of cotejo; `make help` lists them. With Spack on PATH the stack
# comes from spack.yaml, otherwise from the locked wheels in requirements/.

# The options of all commands, given as NAME=value after the command. Variables of the environment
# with such a name are ignored. A value is text: make expands nothing in it, and recipes receive it
# through the environment only. stack/variables.py checks the values before any file is changed.
GIVEN = STACK DATA RESULTS FIGURES REPORT PAPER PROOF REFERENCE SAMPLES DROP TAG CELLS LAUNCHES \
        UNTIL BUDGET ALLOCATIONS NAME SITE PART PDF DELTA BEFORE AFTER CHANGED SET \
        PROGRAM METRIC UNIT BETTER CHECK BUILD RANKS THREADS MPI MPIS FROM TO WHERE TUNING \
        ARTIFACT JUDGE ARCHAEOLOGY SIZES PEERS CONTROLS
given = $(if $(filter command,$(firstword $(origin $1))),$(value $1),$2)
$(foreach name,$(GIVEN),$(eval override $(name) := $$(call given,$(name))))
# An empty SPACK= selects the wheels although Spack is installed.
override SPACK := $(call given,SPACK,$(shell command -v spack 2>/dev/null))

# A given folder or file, relative to this folder; otherwise the default.
place = $(if $1,$(if $(filter /%,$1),$1,$(CURDIR)/$1),$(CURDIR)/$2)
override STACK := $(call place,$(STACK),$(if $(SPACK),.spack-env,.stack))
# DATA=reference reads the dataset in the repository instead of your own results.
override DATA := $(or $(DATA),results)
override RESULTS := $(call place,$(RESULTS),$(if $(filter reference,$(DATA)),data/reference,results))
override FIGURES := $(call place,$(FIGURES),figures)
override REPORT := $(call place,$(REPORT),report/report.html)
override PAPER := $(call place,$(PAPER),report/paper.html)
override BEFORE := $(if $(BEFORE),$(call place,$(BEFORE)))
override AFTER := $(if $(AFTER),$(call place,$(AFTER)))
override MPIS := $(if $(MPIS),$(call place,$(MPIS)))
override ARTIFACT := $(call place,$(ARTIFACT),artifact)
override PROOF := $(call place,$(PROOF),proof)
override TUNING := $(call place,$(TUNING),tuning)
override REFERENCE := $(call place,$(REFERENCE),data/reference)
override SAMPLES := $(or $(SAMPLES),20)
override TAG := $(or $(TAG),quick)
PROOF_RESULTS := $(if $(filter reference,$(DATA)),$(CURDIR)/data/proof,$(PROOF)/results)
PUBLISHED := $(CURDIR)/data/published
COTEJO_STACK := $(STACK)
COTEJO_RESULTS := $(RESULTS)
RFM_CONFIG_FILES := $(CURDIR)/reframe_tests/config.py
# SITE selects the site of every command, like COTEJO_SITE.
ifneq ($(SITE),)
export COTEJO_SITE := $(SITE)
endif
CLONE := $(CURDIR)
PYTHON = $(firstword $(wildcard $(STACK)/tools/bin/python) python3)
# R from Spack is among the tools of the stack.
PATH := $(STACK)/tools/bin:$(PATH)
export GIVEN $(GIVEN) SPACK PROOF_RESULTS PUBLISHED COTEJO_STACK COTEJO_RESULTS RFM_CONFIG_FILES \
       CLONE PATH

# Variables of the shell for other installations of Python, git, pip and R have no effect. NULL is
# R's word for no library of the user.
export R_LIBS_USER = NULL
unexport PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONUSERBASE PYTHONSAFEPATH PYTHONPLATLIBDIR \
         PIP_TARGET PIP_PREFIX PIP_USER PIP_REQUIRE_VIRTUALENV GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE \
         R_LIBS_SITE R_DEFAULT_PACKAGES

# R starts with more memory, so that it collects garbage less often. This costs 250 MB in each
# process.
RSCRIPT = R_LIBS="$$STACK/R" R_NSIZE=3M R_VSIZE=256M Rscript --vanilla
# A variable of another name than MAKE, because `make -n` executes recipes that contain MAKE.
AGAIN   = $(MAKE) --no-print-directory
REMOVE  = python3 -m reframe_tests.harness remove
CLAIM   = $(REMOVE) --claim /
BENCHES = suites sampler analysis sites kernels faults

.DEFAULT_GOAL := help
.PHONY: coverage questions history mpi locked-mpi algorithms guidelines locked-guidelines \
        guidelines-page tune locked-tune tune-page abi locked-abi abi-page releases locked-releases releases-page help \
        checked stack locked-stack test-packages build locked-build coarrays verify \
        locked-verify study locked-study \
        locked-proof analysis figures report paper proof \
        proof-page reference compare compare-layers site check-site references test lint format docs docs-tools language-tools release-check artifact artifact-tools reproduce locked-reproduce \
        reproduce-offline reproduce-page export bench clean \
        distclean

# The help text of a target begins with its group. A line `#?` has the example of a group.
#? Start: make study
#? Measure: make study TAG=collectives CELLS='^collective_quick.*shm' SIZES=8Ki
#? Compare: make compare BEFORE=results-old AFTER=results CHANGED=mpi
#? Figures: make figures DATA=reference
#? Release: make reproduce-offline
#? Develop: make lint
help: ## Start: list the commands
	@awk '/^[a-z-]+:.*## [A-Z][a-z]+: / { \
	    name = $$1; sub(/:.*/, "", name); sub(/.*## /, ""); \
	    group = $$1; sub(/^[A-Za-z]+: /, ""); \
	    lines[group] = lines[group] sprintf("  make %-17s %s\n", name, $$0) } \
	  /^#\? / { group = $$2; sub(/^#\? [A-Za-z]+: /, ""); example[group] = $$0; order[++n] = group } \
	  END { for (i = 1; i <= n; i++) { \
	    printf "%s\n%s  for example: %s\n\n", order[i], lines[order[i]], example[order[i]] } \
	    print "docs/commands.md explains options and jobs." }' Makefile

checked: # refuses, in one line, what no recipe could bear
	@python3 stack/variables.py

# The cores and the stack are locked before anything compiles; no program of the stack is needed for
# it.
BUILDING = @python3 -m reframe_tests.harness alone --stack "$$STACK" $(AGAIN)

stack: checked ## Start: install the MPI libraries, ReFrame and R; build and verify the benchmarks
	$(BUILDING) locked-stack

locked-stack:
ifneq ($(SPACK),)
	@# A fresh Spack would note the compilers in spack.yaml itself, at the first use.
	"$$SPACK" -e . compiler find --scope user
	"$$SPACK" -e . install
	python3 stack/spack_complete.py .
else
	python3 stack/wheels.py "$$STACK"
endif
	@$(AGAIN) locked-build locked-verify

build: checked ## Develop: build the benchmarks for each MPI library, and the R package (ARCHAEOLOGY=yes)
	$(BUILDING) locked-build

locked-build:
	@$(PYTHON) -m stack.build "$$STACK"

coarrays: checked ## Measure: add a compiler for Fortran coarrays to Open MPI
	@$(PYTHON) -m stack.coarrays "$$STACK"
	@$(AGAIN) build

verify: checked ## Start: check that each MPI library compiles and runs 2 ranks; audit the builds
	$(BUILDING) locked-verify

locked-verify:
	@$(PYTHON) -m stack.verify "$$STACK"

# Locks the cores of this machine before anything compiles or launches on them.
LOCKED = @$(PYTHON) -m reframe_tests.harness alone $(AGAIN)
# Runs a command that launches, and then the target that writes pages of the results, even if some
# launches failed (status 3 or 4). Keeps the status of the command.
launched = @status=0; $1 || status=$$?; \
  case $$status in 0|3|4) $(AGAIN) $2 || status=$$?;; esac; exit $$status

study: checked ## Start: measure, draw figures and write the report (options: docs/commands.md)
	$(LOCKED) locked-study

locked-study: stack
	$(call launched,$(PYTHON) -m reframe_tests.harness study --tag="$$TAG" --cells="$$CELLS" \
	  --sizes="$$SIZES" --set="$$SET" --program="$$PROGRAM" --metric="$$METRIC" --unit="$$UNIT" --better="$$BETTER" \
	  --check="$$CHECK" --build="$$BUILD" $${RANKS:+--ranks="$$RANKS"} \
	  $${THREADS:+--threads="$$THREADS"} $${LAUNCHES:+--launches="$$LAUNCHES"} $${UNTIL:+--until="$$UNTIL"} \
	  $${BUDGET:+--budget="$$BUDGET"} $${ALLOCATIONS:+--allocations="$$ALLOCATIONS"},figures report)

analysis: checked # the R package alone: figures need no MPI
	@python3 stack/analysis.py "$$STACK"

figures: analysis ## Figures: draw every figure and exhibit (DATA=reference, RESULTS, FIGURES, PDF=yes)
	@$(CLAIM) "$$FIGURES"
	@$(RSCRIPT) -e 'cotejo::run_command(draw_all(Sys.getenv("RESULTS"), Sys.getenv("FIGURES"), published = Sys.getenv("PUBLISHED"), pdf = nzchar(Sys.getenv("PDF"))))'

report: analysis ## Figures: write the report of the results (DATA=reference, RESULTS, REPORT, DELTA=3%)
	@$(CLAIM) "$$(dirname "$$REPORT")"
	@$(RSCRIPT) -e 'cotejo::run_command(write_report(Sys.getenv("RESULTS"), Sys.getenv("REPORT"), published = Sys.getenv("PUBLISHED"), delta = share_of_text(Sys.getenv("DELTA"), 0.03)))'

coverage: analysis # what the dataset covers and its verdicts on claims, in docs and analysis/inst
	@$(RSCRIPT) -e 'cotejo::run_command(write_coverage_of(Sys.getenv("RESULTS"), "docs/studies.md", "docs/coverage.csv", "analysis/inst/reference-time.csv", published = Sys.getenv("PUBLISHED")))'
	@$(RSCRIPT) -e 'cotejo::run_command(write_claims(Sys.getenv("RESULTS"), $(CLAIMS_R), "docs/claims.csv"))'

export: analysis ## Figures: write verdicts as JSON, medians as OpenMetrics, samples as Parquet (DATA, RESULTS)
	@$(CLAIM) "$$(dirname "$$REPORT")"
	@$(RSCRIPT) -e 'cotejo::run_command(write_export(Sys.getenv("RESULTS"), file.path(dirname(Sys.getenv("REPORT")), "export"), share_of_text(Sys.getenv("DELTA"), 0.03)))'

paper: analysis ## Figures: write the paper on the five studies (DATA=reference, RESULTS, PAPER)
	@$(CLAIM) "$$(dirname "$$PAPER")"
	@$(RSCRIPT) -e 'cotejo::run_command(write_paper("analysis/paper.Rmd", Sys.getenv("RESULTS"), Sys.getenv("PAPER"), published = Sys.getenv("PUBLISHED")))'

proof: checked ## Develop: test the statistics on launches with injected slowdowns (LAUNCHES=30, CELLS)
	$(LOCKED) locked-proof

locked-proof: stack
	$(call launched,COTEJO_RESULTS="$$PROOF/results" $(PYTHON) -m reframe_tests.harness study \
	  --tag=proof --launches="$${LAUNCHES:-30}" --cells="$$CELLS",proof-page)

proof-page: analysis ## Develop: write the page of the proof from existing sessions (DATA=reference, PROOF)
	@$(RSCRIPT) -e 'cotejo::run_command(write_proof(Sys.getenv("PROOF_RESULTS"), file.path(Sys.getenv("PROOF"), "proof.html")))'

reference: analysis ## Develop: add results to the dataset (RESULTS, REFERENCE, SAMPLES=20, DROP=SITE/SESSION)
	@$(RSCRIPT) -e 'cotejo::run_command(pack_dataset(Sys.getenv("RESULTS"), Sys.getenv("REFERENCE"), as.integer(Sys.getenv("SAMPLES")), Sys.getenv("DROP")))'

compare: analysis ## Compare: judge an upgrade by results before and after it (BEFORE, AFTER, CHANGED=mpi, DELTA=3%)
	@$(call needs,BEFORE)$(call needs,AFTER)$(CLAIM) "$$(dirname "$$REPORT")"
	@python3 -m reframe_tests.harness compare "$$BEFORE" "$$AFTER" --changed="$$CHANGED" \
	  --delta="$$DELTA" --page="$$(dirname "$$REPORT")/compare.html"

history: analysis ## Compare: find the days on which a site became faster or slower (SITE=local, DATA)
	@$(CLAIM) "$$(dirname "$$REPORT")"
	@$(RSCRIPT) -e 'site <- Sys.getenv("SITE"); cotejo::run_command(write_history(Sys.getenv("RESULTS"), dirname(Sys.getenv("REPORT")), if (nzchar(site)) site else "local"))'

abi: checked ## Compare: compare native builds with one binary of the standard ABI (TAG, CELLS)
	$(LOCKED) locked-abi

locked-abi: stack
	@$(PYTHON) -m stack.abi "$$STACK"
	$(call launched,$(PYTHON) -m reframe_tests.harness study --mpis=abi --tag="$$TAG" --cells="$$CELLS" \
	  $${LAUNCHES:+--launches="$$LAUNCHES"},abi-page)

abi-page: analysis # the exhibit of the sessions that are there
	@$(CLAIM) "$$(dirname "$$REPORT")"
	@$(RSCRIPT) -e 'cotejo::run_command(write_abi(Sys.getenv("RESULTS"), file.path(dirname(Sys.getenv("REPORT")), "abi.html"), share_of_text(Sys.getenv("DELTA"), 0.03)))'

releases: checked ## Compare: find the release that changed the performance (MPI=mpich, FROM, TO; or MPIS=file)
	$(if $(MPIS),,$(call needs,MPI))$(LOCKED) locked-releases

locked-releases: stack
	$(call launched,$(PYTHON) -m reframe_tests.harness releases $${MPI:+"$$MPI"} $${MPIS:+--declared="$$MPIS"} \
	  $${FROM:+--from="$$FROM"} $${TO:+--to="$$TO"} --tag="$$TAG" --cells="$$CELLS" \
	  $${LAUNCHES:+--launches="$$LAUNCHES"},releases-page)

releases-page: analysis # the report of the last search
	@$(CLAIM) "$$(dirname "$$REPORT")"
	@$(RSCRIPT) -e 'cotejo::run_command(write_releases(readLines(file.path(Sys.getenv("STACK"), "releases/last")), file.path(dirname(Sys.getenv("REPORT")), "releases.html")))'

algorithms: checked ## Compare: list the algorithms of collectives that a library offers (MPI=openmpi)
	@$(call needs,MPI)$(PYTHON) -m reframe_tests.harness algorithms "$$MPI"

guidelines: checked ## Compare: judge the performance guidelines of a library (MPI=openmpi, CELLS, LAUNCHES)
	$(call needs,MPI)$(LOCKED) locked-guidelines

locked-guidelines: stack
	$(call launched,$(PYTHON) -m reframe_tests.harness study --tag=guidelines \
	  --cells="$${CELLS:-[.]$$MPI[.]}" $${LAUNCHES:+--launches="$$LAUNCHES"},guidelines-page)

guidelines-page: analysis # the report of the sessions that are there
	@$(CLAIM) "$$(dirname "$$REPORT")"
	@$(RSCRIPT) -e 'cotejo::run_command(write_guidelines(Sys.getenv("RESULTS"), file.path(dirname(Sys.getenv("REPORT")), "guidelines.html"), Sys.getenv("MPI"), share_of_text(Sys.getenv("DELTA"), 0.03)))'

tune: checked ## Compare: find faster algorithms of collectives, and confirm them (MPI=openmpi, CELLS, BUDGET=30m, CHECK=file)
	$(call needs,MPI)$(LOCKED) locked-tune

locked-tune: stack
	$(call launched,$(PYTHON) -m reframe_tests.harness tune "$$MPI" "$$TUNING" --cells="$$CELLS" \
	  --check="$$CHECK" $${LAUNCHES:+--launches="$$LAUNCHES"} $${BUDGET:+--budget="$$BUDGET"},tune-page)

tune-page: analysis # of the last session that compared a file with the default
	@[ ! -f "$$TUNING/session" ] || $(RSCRIPT) -e 'folder <- Sys.getenv("TUNING"); cotejo::run_command(write_tuning(readLines(file.path(folder, "session")), if (nzchar(checked <- Sys.getenv("CHECK"))) checked else file.path(folder, paste0(Sys.getenv("MPI"), ".env")), file.path(folder, "tuning.html"), share_of_text(Sys.getenv("DELTA"), 0.03)))'

questions: analysis ## Figures: write the reports of real questions in the dataset (DATA=reference)
	@$(CLAIM) "$$(dirname "$$REPORT")"
	@$(RSCRIPT) -e 'cotejo::run_command(write_questions(Sys.getenv("RESULTS"), file.path(dirname(Sys.getenv("REPORT")), "questions"), published = Sys.getenv("PUBLISHED")))'

compare-layers: analysis ## Compare: compare each layer of a site with the layer below (SITE=local, DATA)
	@$(RSCRIPT) -e 'cotejo::run_command(print_layers(Sys.getenv("RESULTS"), Sys.getenv("SITE", "local")))'

# Stops a recipe if a required variable was not given.
needs = $(if $($(1)),,$(error $@: give $(1)=x))

site: checked ## Measure: write the files of a site for this machine, to be corrected (NAME=x)
	@$(call needs,NAME)$(PYTHON) -m reframe_tests.harness new-site "$$NAME"

experiment: checked ## Develop: write the source of a new experiment and its row (NAME=x)
	@$(call needs,NAME)$(PYTHON) -m reframe_tests.harness new-experiment "$$NAME"

mpi: checked ## Measure: add an MPI library to a site (NAME=x FROM=wheel|module|spack|prefix|container, WHERE, SITE=local)
	@$(call needs,NAME)$(call needs,FROM):
	$(LOCKED) locked-mpi

locked-mpi:
	@COTEJO_SITE="$${SITE:-local}" $(PYTHON) -m stack.installations "$$STACK" "$$NAME" "$$FROM" "$$WHERE"

check-site: checked ## Measure: check the files of a site, then launch each placement once (NAME=x)
	@$(call needs,NAME)COTEJO_SITE="$$NAME" $(AGAIN) build
	@$(PYTHON) -m reframe_tests.harness check-site "$$NAME"

references: analysis ## Measure: compute the reference intervals of a site from its results (SITE=x)
	@$(call needs,SITE)$(PYTHON) -m reframe_tests.harness references "$$SITE"

test-packages: checked # before the stack, which builds with what it finds
	@python3 stack/wheels.py --test-packages "$$STACK"

test: test-packages stack docs-tools language-tools artifact-tools ## Develop: run all tests, from C to the report
ifneq ($(SPACK),)
	@python3 stack/wheels.py --only tools "$$CLONE/.stack"
	@python3 stack/wheels.py --only style "$$CLONE/.stack"
endif
	@TOOLS="$$CLONE/.stack/tools/bin" bash tests/run.sh

artifact-tools: checked # what validates the metadata of the archive
	@python3 stack/wheels.py --only validators '$(DOCS_STACK)'

# The tools of the site are separate from the stack, because they must not change its provenance.
DOCS_STACK = $(if $(SPACK),$(CURDIR)/.stack,$(STACK))

docs-tools: checked
	@python3 stack/wheels.py --only docs '$(DOCS_STACK)'

language-tools: checked # the linter of texts
	@python3 stack/wheels.py --only vale '$(DOCS_STACK)'

docs: docs-tools ## Develop: write the documentation site to report/docs
	@$(CLAIM) "$$(dirname "$$REPORT")"
	@NO_MKDOCS_2_WARNING=1 '$(DOCS_STACK)/docs/bin/mkdocs' build \
	  --site-dir "$$(dirname "$$REPORT")/docs"
	@echo "$$(dirname "$$REPORT")/docs/index.html"

release-check: ## Release: check that this commit can be released (versions, changelog, tree)
	@python3 -m stack.release

# The claims of the five studies, and those of this project's own results.
CLAIMS_R = c("data/published/claims.csv", "data/claims.csv")

artifact: analysis artifact-tools ## Release: write the archive for reviewers of this commit (ARTIFACT)
	@$(CLAIM) "$$ARTIFACT"
	@$(REMOVE) "$$ARTIFACT" "$$ARTIFACT/tables"
	@$(CLAIM) "$$ARTIFACT/tables"
	@$(RSCRIPT) -e 'cotejo::run_command(write_artifact("data/reference", Sys.getenv("PUBLISHED"), $(CLAIMS_R), file.path(Sys.getenv("ARTIFACT"), "tables")))'
	@$(PYTHON) -m stack.artifact "$$ARTIFACT" '$(DOCS_STACK)/validators/bin/python'

reproduce-offline: analysis ## Release: draw all figures again and compare their numbers with the archive (ARTIFACT)
	@$(CLAIM) reproduce
	@$(RSCRIPT) -e 'cotejo::run_command(check_artifact("data/reference", Sys.getenv("PUBLISHED"), $(CLAIMS_R), file.path(Sys.getenv("ARTIFACT"), "tables"), "reproduce/figures"))'

reproduce: reproduce-offline ## Release: the same, then judge claims by launches on this machine (BUDGET=15m, JUDGE, ARTIFACT)
	$(LOCKED) locked-reproduce

locked-reproduce: stack
	@$(PYTHON) -m stack.reproduce "$$ARTIFACT/tables/claims.csv" reproduce/results
	@$(AGAIN) reproduce-page

reproduce-page: analysis # the judgement of the launches that are there
	@$(RSCRIPT) -e 'cotejo::run_command(write_reproduction("reproduce/results", $(CLAIMS_R), file.path(Sys.getenv("ARTIFACT"), "tables/claims.csv"), "reproduce/reproduction.csv"))'

lint: language-tools ## Develop: check the style of Python, C and R, and the documents
	ruff check .
	find src archaeology -name '*.[ch]' -exec clang-format --dry-run -Werror {} +
	Rscript --vanilla tests/lint.R
	$(PYTHON) -m pytest -q tests/test_docs.py tests/test_language.py

format: ## Develop: format the C files, and what ruff can repair in Python
	find src archaeology -name '*.[ch]' -exec clang-format -i {} +
	ruff check --fix .

bench: stack ## Develop: check the goals of the project itself (PART=sampler, or another program of bench/)
	@status=0; for part in $(or $(PART),$(BENCHES)); do \
	  $(PYTHON) -m bench.$$part "$$STACK" || status=1; done; exit $$status

clean: checked ## Develop: remove builds, figures and the report; results stay
	@$(REMOVE) "$$STACK" "$$STACK/build" "$$STACK/reframe"
	@$(REMOVE) "$$CLONE" "$$FIGURES" "$$(dirname "$$REPORT")" "$$ARTIFACT"

distclean: clean ## Develop: remove the embedded stack too; results stay
	@$(REMOVE) "$$CLONE" "$$CLONE/.stack"
