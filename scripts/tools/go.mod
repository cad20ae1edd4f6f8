// The tools of `make check`. They have a module of their own, so that the
// program's go.mod lists only what the program and its tests need.
module lifehub/scripts/tools

go 1.26.0

tool (
	honnef.co/go/tools/cmd/staticcheck
	mvdan.cc/gofumpt
)

require (
	github.com/google/go-licenses/v2 v2.0.1
	github.com/google/licenseclassifier/v2 v2.0.0
	golang.org/x/tools v0.51.0
)

require (
	github.com/BurntSushi/toml v1.4.1-0.20240526193622-a339e1f7089c // indirect
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/go-logr/logr v1.2.0 // indirect
	github.com/golang/groupcache v0.0.0-20210331224755-41bb18bfe9da // indirect
	github.com/sergi/go-diff v1.2.0 // indirect
	go.opencensus.io v0.24.0 // indirect
	golang.org/x/exp/typeparams v0.0.0-20231108232855-2478ac86f678 // indirect
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/net v0.59.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	honnef.co/go/tools v0.8.2 // indirect
	k8s.io/klog/v2 v2.90.1 // indirect
	mvdan.cc/gofumpt v0.12.0 // indirect
)
