//go:build !unix

package terminal

import "os"

// Endings are the signals that end a chat.
var Endings = []os.Signal{os.Interrupt}
