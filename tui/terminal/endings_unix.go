//go:build unix

package terminal

import (
	"os"
	"syscall"
)

// Endings are the signals that end a chat.
var Endings = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
