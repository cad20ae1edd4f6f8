package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/term"

	"lifehub/cli/settings"
	"lifehub/internal/files"
)

// maxAttached bounds what stdin and -f may add to a question, in bytes. More would not fit the
// window of any local model.
const maxAttached = 1 << 20

const (
	inputNotice   = time.Second     // a pipe that stays silent for so long is reported
	inputPatience = 3 * time.Second // and for so long it is taken for empty, if the command can do without
)

// ErrNoInput is the error of a pipe in which nothing arrived, and which nobody closed.
var ErrNoInput = errors.New("nothing on standard input")

// IsPiped reports whether standard input is a pipe, a socket or a regular file, so neither a
// terminal nor closed nor /dev/null.
func (sh *Process) IsPiped() bool {
	info, err := sh.In.Stat()
	return err == nil && !term.IsTerminal(sh.In.Fd()) &&
		(info.Mode()&os.ModeNamedPipe != 0 || info.Mode().IsRegular() || info.Mode()&os.ModeSocket != 0)
}

// ReadInput reads the text on standard input to its end, or until ctx ends. If the command can do
// without it, a pipe in which nothing arrives is given up with ErrNoInput. A notice says that it waits.
func (sh *Process) ReadInput(ctx context.Context, optional bool, notices io.Writer) (string, error) {
	return readInput(ctx, bufio.NewReader(sh.In), optional, notices)
}

func readInput(ctx context.Context, in *bufio.Reader, optional bool, notices io.Writer) (string, error) {
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		_, _ = in.Peek(1) // the read below has its error
	}()
	notice := time.After(inputNotice)
	var silent <-chan time.Time
	for waiting := true; waiting; {
		select {
		case <-begun:
			waiting = false
		case <-notice:
			fmt.Fprintln(notices, "! waiting for standard input")
			if optional {
				silent = time.After(inputPatience - inputNotice)
			}
		case <-silent:
			return "", ErrNoInput
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return files.Await(ctx, func() (string, error) { return readText(in, "stdin") })
}

// ReadAttached reads a text file given to a question, until ctx ends: it may be a pipe that nobody writes
// to.
func ReadAttached(ctx context.Context, name string) (string, error) {
	return files.Await(ctx, func() (string, error) {
		file, err := os.Open(name)
		if err != nil {
			return "", settings.UsageError{Err: err}
		}
		defer file.Close()
		return readText(file, name)
	})
}

func readText(r io.Reader, name string) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxAttached+1))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > maxAttached {
		return "", settings.UsageError{Err: fmt.Errorf("%s is larger than %d bytes, the most that can be given", name,
			maxAttached)}
	}
	if !utf8.Valid(data) {
		return "", settings.UsageError{Err: fmt.Errorf("%s is not UTF-8 text", name)}
	}
	return strings.TrimSpace(string(data)), nil
}
