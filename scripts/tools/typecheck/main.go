// Typecheck reports what would not compile in a module on other systems. It only type-checks the
// sources, because compiling everything takes six times as long.
//
//	typecheck DIR GOOS/GOARCH…
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	failed := false
	for _, system := range os.Args[2:] {
		goos, goarch, _ := strings.Cut(system, "/")
		list, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
				packages.NeedDeps | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesSizes,
			Dir:   os.Args[1],
			Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
			Tests: true,
		}, "./...")
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", system, err)
			os.Exit(1)
		}
		for _, p := range list {
			for _, err := range p.Errors {
				fmt.Fprintf(os.Stderr, "%s: %v\n", system, err)
				failed = true
			}
		}
	}
	if failed {
		os.Exit(1)
	}
}
