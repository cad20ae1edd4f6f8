// Package docs holds the pages for users, so that they come along in the binary.
package docs

import "embed"

// Pages are the topics of /help, a file each.
//
//go:embed conversations.md editors.md mcp.md memory.md models.md modes.md notes.md permissions.md screen.md serve.md tools.md web.md
var Pages embed.FS
