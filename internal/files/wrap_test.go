package files

import (
	"errors"
	"testing"
)

func TestErrorAddsTheOperation(t *testing.T) {
	full := errors.New("disk full")
	save := func(result error) (err error) {
		defer Wrap(&err, "save %s", "100%")
		return result
	}
	if err := save(nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	if err := save(full); !errors.Is(err, full) || err.Error() != "save 100%: disk full" {
		t.Errorf("got %v", err)
	}
}
