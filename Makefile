# Everything a developer runs. CI runs .ci/run, which is made of the same parts.

SHELL := /bin/bash
export CGO_ENABLED ?= 0

# Tools of the static checks, which have a go.mod of their own.
CHECKS := go tool -modfile=scripts/tools/go.mod

.PHONY: run test race check golden bench speed eval silent decline links claims modes soak fuzz ollama npm tools screens film strings build size release release-check module-check

run: ## the chat on the starter notes
	go run . chat --notes examples/notes

build: ## one static binary
	go build -trimpath -ldflags "-s -w" -o lifehub .

size: ## what the code of the binary is made of, by package, in kB
	go build -trimpath -o bin/measured .
	go tool nm -size bin/measured | awk '$$3 ~ /^[tT]$$/ { name = $$4; sub(/\[.*/, "", name); slash = match(name, /\/[^\/]*$$/) ? RSTART : 0; \
		dot = index(substr(name, slash + 1), "."); of[substr(name, 1, slash + dot - 1)] += $$2 } \
		END { for (package in of) printf "%6.0f  %s\n", of[package] / 1000, package }' | sort -nr

release: ## everything a release has, into dist/; nothing is published
	@test -x bin/goreleaser || GOBIN=$(CURDIR)/bin CGO_ENABLED=0 go install github.com/goreleaser/goreleaser/v2@v2.16.0
	bin/goreleaser release --snapshot --clean

release-check: ## two releases byte by byte, and each Linux package installed in an empty root
	scripts/release/check.sh

module-check: ## what a publisher does to the module, in a clone: another path, its zip, an install from that
	scripts/release/module-check.sh

test: ## what the README says
	go test ./...

# Packages that start goroutines, in code or in tests; the others have nothing
# to race, nor have those of which only a process of its own or a test's pipe
# has one. Not watched: SQLite, translated from C, and regexp. They only
# compute, and watching each of their loads makes a run three times as long. A
# program under the race detector waits a second before it exits unless told
# otherwise.
race: ## the same with the race detector, where goroutines start; needs cgo
	GORACE=atexit_sleep_ms=10 CGO_ENABLED=1 go test -race -vet=off -timeout 20m \
		-gcflags='modernc.org/...=-race=false' -gcflags='regexp/...=-race=false' \
		$$(grep -rlE --include='*.go' '^[[:space:]]*go (func|[a-zA-Z_.]+\()|\.Go\(' . | grep -v /testdata/ | xargs -n1 dirname | sort -u | \
			grep -vxE './(cli/(evalmodels|show)|internal/survive|notes/pdf|rag/eval|tui/panel)')

check: ## the static checks
	@wrong="$$($(CHECKS) gofumpt -l .)"; test -z "$$wrong" || { echo "$$wrong"; echo "run: $(CHECKS) gofumpt -w ."; exit 1; } >&2
	go vet ./...
	$(CHECKS) staticcheck ./...
	go -C scripts/tools run ./typecheck ../.. darwin/arm64 windows/amd64

golden: ## rewrite the golden stories and screens; read the diff
	go test $$(grep -rl exp/golden --include=*_test.go . | xargs -n1 dirname | sort -u) -update

bench: ## speed and memory, as ratios to a reference in the same run
	go test -run '^$$' -bench . -skip Shapes -benchtime 3x ./rag/... ./tui/... ./notes/... ./llm/... ./store/...
	go test -run '^$$' -bench Shapes -benchtime 1x -timeout 1h ./rag
	go test -run '^$$' -bench OpenAndScroll -benchtime 5x ./cli/chat
	LIFEHUB_SCALE=1 go test -run '^$$' -bench Scale -benchtime 1x -timeout 1h -v ./rag/...

speed: ## start, stream and memory of the whole program, next to a bare one in the same run; needs a quiet machine
	LIFEHUB_SPEED=1 go test -run 'TestSpeed' -count=1 -timeout 1h -v ./cli

eval: ## quality of the search on the shared benches
	LIFEHUB_EVAL=1 go test ./rag/eval -run TestFigures -v -count=1 -timeout 2h

silent: ## questions that share no word with the notes, by the real encoder
	LIFEHUB_EVAL=1 go test ./rag/eval -run TestNoSharedWord -v -count=1 -timeout 30m

decline: ## which questions are declined, with the notes that answer them and without
	LIFEHUB_EVAL=1 LIFEHUB_EMBEDDERS=use-lite go test ./rag/eval -run TestDecline -v -count=1 -timeout 2h

links: ## what links do for the search, on vaults with links
	LIFEHUB_EVAL=1 go test ./rag/eval -run TestFiguresOfLinks -v -count=1

claims: ## the check of citations on true and false answers, by hand and made from notes
	go test ./agent/citation -run 'TrueAnswer|FalseAnswer|MadeTrueAndFalse|Constructed|RealNotes' -count=1 -v

modes: ## what the three modes cost, and what comes of them: 40 tasks, a model that is honest and one that is sloppy
	LIFEHUB_SOAK=1 go test ./cli/evalmodels -run WhatTheModesCost -count=1 -timeout 1h -v

soak: ## the full counts of the loops of which `make test` runs a share
	LIFEHUB_SOAK=1 go test ./internal/survive ./internal/database ./notes/... ./store/... ./rag/... ./mcpclient/... ./llm/... ./agent/turn ./cli/... ./tui/... -timeout 3h -v -run 'WhatTheyMean|UnderLoad|InEveryPanel|NoFault|DuringRebuilds|Swapped|NoSentence|SentencesAnswer|Obeying|Kill|Full|Refuses|Damage|Process|Descendant|Misbehave|FloodsCost|CutAnywhere|FaultyServer|RestartedInMid|SlowLine|NoBytesPanic|NoBytesEnd|CutInSilence|LittleWindow|FitsEverySize|CommandsInWhat|NoWayOfWriting|ThatGoesOn'

fuzz: ## each fuzz target for FUZZTIME
	scripts/fuzz.sh $${FUZZTIME:-30s}

ollama: ## build the real Ollama server that the tests use, once, into the user's cache
	scripts/ollama.sh

npm: ## install the real MCP servers, Chroma, sentence encoder, WordNet and an editor's SDK that the tests use, once, into the user's cache
	scripts/npm.sh

tools: ## build the tools that make pictures
	scripts/tools.sh

screens: tools ## the pictures under docs/screens, from the running program
	scripts/screens.sh

film: tools ## the moving picture of the README, from the running program
	STEPS=film scripts/screens.sh

strings: ## every string that a user may read, by file, for somebody who reads them all
	@go run scripts/strings.go
