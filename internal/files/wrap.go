package files

import "fmt"

// Error prefixes a non-nil error that a function returns with a description of
// what it was doing. It must be deferred, with the address of the named result.
func Wrap(err *error, doing string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(doing, args...), *err)
	}
}
