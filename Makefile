# The commands of a developer. CI runs .ci/run, which uses the same ones.

SHELL := /bin/bash
export CGO_ENABLED ?= 0

# The tools of the static checks, which have a separate go.mod.
CHECKS := go tool -modfile=scripts/tools/go.mod

# The measurements of search, citations, models and modes, which have a module of their own.
EVAL := go -C tools/eval run .

.PHONY: run test race check golden bench speed eval latency silent decline links claims modes memory soak fuzz licenses ollama npm tools screens film strings build size release publish release-check module-check

run: ## the chat on the starter notes
	go run . chat --notes examples/notes

build: ## one static binary
	go build -trimpath -ldflags "-s -w" -o lifehub .

size: ## code size of the binary by package, in kB
	go build -trimpath -o bin/measured .
	go tool nm -size bin/measured | awk '$$3 ~ /^[tT]$$/ { name = $$4; sub(/\[.*/, "", name); slash = match(name, /\/[^\/]*$$/) ? RSTART : 0; \
		dot = index(substr(name, slash + 1), "."); of[substr(name, 1, slash + dot - 1)] += $$2 } \
		END { for (package in of) printf "%6.0f  %s\n", of[package] / 1000, package }' | sort -nr

release: ## all files of a release, into dist/; publishes nothing
publish: ## the same for a tag, and onto the page of the release
release publish: bin/goreleaser bin/cyclonedx-gomod bin/wheel
	PATH="$(CURDIR)/scripts/release/path:$$PATH" bin/goreleaser release --clean $(if $(filter release,$@),--snapshot)

bin/goreleaser:
	GOBIN=$(CURDIR)/bin go install github.com/goreleaser/goreleaser/v2@v2.16.0
bin/cyclonedx-gomod:
	GOBIN=$(CURDIR)/bin go install -trimpath github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
bin/wheel:
	python3 -m pip install -q --no-deps --target bin/wheel wheel==0.48.0 packaging==26.4

release-check: ## compare two builds, install each package in an empty folder, and ask it a question
	scripts/release/check.sh

module-check: ## in a clone, rename and tag the module, and install it by its path
	scripts/release/module-check.sh

test: ## all tests
	go test ./...

# Tests packages that start goroutines, in code or in tests, except those that
# only do so in a separate process or for a test's pipe. SQLite (translated from
# C) and regexp are not instrumented: they only compute, and instrumenting them
# makes a run three times as long. atexit_sleep_ms avoids the wait of a second
# before each exit.
race: ## tests with the race detector, of packages that start goroutines; needs cgo
	GORACE=atexit_sleep_ms=10 CGO_ENABLED=1 go test -count=1 -race -vet=off -p 3 -timeout 20m \
		-gcflags='modernc.org/...=-race=false' -gcflags='regexp/...=-race=false' \
		./cli ./cli/app ./mcpclient ./tui ./cli/acp \
		$$(grep -rlE --include='*.go' '^[[:space:]]*go (func|[a-zA-Z_.]+\()|\.Go\(' . | grep -v /testdata/ | xargs -n1 dirname | sort -u | \
			grep -vxE './(cli/show|internal/survive|notes/pdf|tools/eval|tui/panel)')

check: ## the static checks
	@wrong="$$($(CHECKS) gofumpt -l .)"; test -z "$$wrong" || { echo "$$wrong"; echo "run: $(CHECKS) gofumpt -w ."; exit 1; } >&2
	go vet ./...
	$(CHECKS) staticcheck ./...
	go -C tools/eval vet ./...
	cd tools/eval && go tool -modfile=../../scripts/tools/go.mod staticcheck ./...
	go -C scripts/tools run ./typecheck ../.. darwin/arm64 windows/amd64
	go -C scripts/tools run ./licenses -check ../..

licenses: ## regenerate THIRD_PARTY_LICENSES
	go -C scripts/tools run ./licenses ../..

golden: ## rewrite all golden files; read the diff
	go test $$(grep -rl exp/golden --include=*_test.go . | xargs -n1 dirname | sort -u) -update

bench: ## speed and memory, as ratios to a reference in the same run
	go test -run '^$$' -bench . -skip Shapes -benchtime 3x ./rag/... ./tui/... ./notes/... ./llm/... ./store/...
	go test -run '^$$' -bench Shapes -benchtime 1x -timeout 1h ./rag
	go test -run '^$$' -bench OpenAndScroll -benchtime 5x ./cli/chatcmd
	LIFEHUB_SCALE=1 go test -run '^$$' -bench 'AfterManyTurns|ManyMessages' -benchtime 5x ./cli
	LIFEHUB_SCALE=1 go test -run '^$$' -bench Scale -benchtime 1x -timeout 1h -v ./rag/...

speed: ## startup, streaming and memory compared with a bare program; needs an idle machine
	LIFEHUB_SPEED=1 go test -run 'TestSpeed' -count=1 -timeout 1h -v ./cli

eval: ## search quality on the shared benches; BENCHES="qmd-mini scifact": on these
	$(EVAL) search $(BENCHES)

latency: ## how long an answer takes on a slow machine, in tokens; rewrites docs/figures/latency.md
	LIFEHUB_LATENCY=1 go test ./cli/app -run TestLatency -count=1 -v

decline: ## how many questions are declined, with and without their answers in the notes
	$(EVAL) decline $(BENCHES)

silent claims modes links memory: ## questions in other words; citation checking; the modes' cost; links; recall
	$(EVAL) $@

soak: ## the kill and fault loops in full; `make test` runs a part of each
	LIFEHUB_SOAK=1 go test ./internal/survive ./internal/files ./notes/... ./store/... ./rag/... ./mcpclient/... ./llm/... ./agent/turn ./cli/... ./tui/... -timeout 3h -v -run 'WhatTheyMean|UnderLoad|InEveryPanel|NoFault|DuringRebuilds|Swapped|NoSentence|SentencesAnswer|Obeying|Kill|Full|Refuses|Damage|Process|Descendant|Misbehave|FloodsCost|CutAnywhere|FaultyServer|RestartedInMid|SlowLine|NoBytesPanic|NoBytesEnd|CutInSilence|LittleWindow|FitsEverySize|CommandsInWhat|NoWayOfWriting|ThatGoesOn|TablesColumns'

fuzz: ## run each fuzz target for FUZZTIME (default 30s)
	scripts/fuzz.sh $${FUZZTIME:-30s}

ollama: ## build the real Ollama server that the tests use, once, into the user's cache
	scripts/ollama.sh

npm: ## install the real MCP servers, Chroma and an editor's SDK that the tests use, once, into the user's cache
	scripts/npm.sh

tools: ## build the tools that make screenshots
	scripts/tools.sh

screens: tools ## remake the screenshots in docs/screens
	scripts/screens.sh

film: tools ## remake the animation in the README
	STEPS=film scripts/screens.sh

strings: ## list every string that a user may read, for proofreading
	@go run scripts/strings.go
