// Command lifehub is a chat in the terminal that knows your notes.
package main

import (
	"embed"
	"os"

	"lifehub/cli"
)

//go:embed THIRD_PARTY_LICENSES
var licences string

//go:embed examples/notes
var examples embed.FS

func main() { os.Exit(cli.Main(licences, examples)) }
