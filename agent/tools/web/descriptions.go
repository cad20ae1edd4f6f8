package web

import "embed"

//go:embed *.md
var descriptions embed.FS
