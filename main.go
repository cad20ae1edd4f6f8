// Command lifehub is a chat in the terminal that knows your notes.
package main

import (
	_ "embed"
	"os"

	"lifehub/cli"
)

//go:embed THIRD_PARTY_LICENSES
var licences string

func main() { os.Exit(cli.Main(licences)) }
