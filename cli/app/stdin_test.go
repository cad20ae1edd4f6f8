package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

func TestSilentInputIsAwaitedThreeSeconds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		optional  bool
		silent    time.Duration // before the first byte
		closes    bool          // nothing is written
		want      string
		err       error
		noticed   bool
		cancelled bool
	}{
		"written at once":            {optional: true, want: "ab"},
		"written after two seconds":  {optional: true, silent: 2 * time.Second, want: "ab", noticed: true},
		"written after four seconds": {optional: true, silent: 4 * time.Second, err: ErrNoInput, noticed: true},
		"closed":                     {optional: true, closes: true},
		"needed":                     {silent: time.Hour, want: "ab", noticed: true},
		"needed and cancelled":       {silent: time.Hour, err: context.Canceled, noticed: true, cancelled: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				out, in := io.Pipe()
				over := make(chan struct{})
				go func() {
					defer close(over)
					time.Sleep(test.silent)
					if !test.closes {
						_, _ = in.Write([]byte("a"))
						time.Sleep(time.Minute) // a slow writer
						_, _ = in.Write([]byte("b"))
					}
					in.Close()
				}()
				if test.cancelled {
					time.AfterFunc(time.Minute, cancel)
				}
				var notices bytes.Buffer
				text, err := readInput(ctx, bufio.NewReader(out), test.optional, &notices)
				if text != test.want || !errors.Is(err, test.err) || (notices.Len() > 0) != test.noticed {
					t.Errorf("%q, %v, notices %q", text, err, notices.String())
				}
				out.Close()
				<-over
			})
		})
	}
}
