// Package wrap says of an error what was being done.
package wrap

import "fmt"

// Error puts what was being done before the error that a function returns, if
// it returns one. It is deferred, with the address of that result.
func Error(err *error, doing string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(doing, args...), *err)
	}
}
