//go:build unix

package cli

import "syscall"

func setUmask() { syscall.Umask(0o077) }
