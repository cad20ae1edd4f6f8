package vectors

import "golang.org/x/sys/cpu"

//go:noescape
func dotAVX2(a *int16, b *byte, n int) int32

func (asked *question) dot(b []byte) int32 {
	if !cpu.X86.HasAVX2 {
		return asked.dotPortable(b)
	}
	return dotAVX2(&asked.numbers[0], &b[:len(asked.numbers)][0], len(asked.numbers))
}
