//go:build !unix

package notes

import (
	"errors"
	"io/fs"
	"os"
)

// nonblock is not needed on systems without FIFOs in folders.
const nonblock = 0

// readFolder lists a folder with file information.
func readFolder(root *os.Root, dir string, _ func()) ([]child, error) {
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
		case errors.Is(err, fs.ErrNotExist): // deleted meanwhile
		case err != nil:
			children = append(children, child{name: e.Name(), mode: e.Type(), err: cause(err)})
		default:
			children = append(children, child{
				name: e.Name(), mode: info.Mode(), size: info.Size(),
				modTime: info.ModTime(),
			})
		}
	}
	return children, nil
}

// deviceOf returns "": the device is not known on this system.
func deviceOf(*os.Root) string { return "" }

// keepOwner does nothing: a new file has the owner that the system gives it.
func keepOwner(*os.Root, string, fs.FileInfo) {}

// syncDir does nothing: folders cannot be synced on this system.
func syncDir(*os.Root, string) error { return nil }

// lockDir does nothing on this system: processes only detect each other's changes
// by checking a note just before replacing it.
func lockDir(*os.Root) (unlock func()) { return func() {} }
