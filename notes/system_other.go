//go:build !unix

package notes

import (
	"errors"
	"io/fs"
	"os"
)

// nonblock is not needed where a folder holds no FIFOs.
const nonblock = 0

// readFolder lists a folder with what is in it.
func readFolder(root *os.Root, dir string) ([]child, error) {
	handle, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	entries, err := handle.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	children := make([]child, 0, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted while we looked
		case err != nil:
			children = append(children, child{name: e.Name(), mode: e.Type(), err: cause(err)})
		default:
			children = append(children, child{name: e.Name(), mode: info.Mode(), size: info.Size(), modTime: info.ModTime()})
		}
	}
	return children, nil
}

// syncDir does nothing: folders cannot be synced here.
func syncDir(*os.Root, string) error { return nil }

// lockDir has no counterpart here: processes are kept apart by the second look
// at a note just before it is replaced.
func lockDir(*os.Root) (unlock func()) { return func() {} }
