// Command lifehub is a chat in the terminal that knows your notes.
package main

import (
	"os"

	"lifehub/cli"
)

func main() { os.Exit(cli.Main()) }
