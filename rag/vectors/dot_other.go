//go:build !amd64

package vectors

func (asked *question) dot(b []byte) int32 { return asked.dotPortable(b) }
