// Modulezip writes the committed module in a folder to a proxy of files, as a version that go install
// finds with GOPROXY=file://PROXY.
//
//	go run ./modulezip FOLDER VERSION PROXY
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: modulezip FOLDER VERSION PROXY")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "modulezip:", err)
		os.Exit(1)
	}
}

func write(folder, version, proxy string) error {
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return err
	}
	v := module.Version{Path: modfile.ModulePath(text), Version: version}
	if err := module.Check(v.Path, v.Version); err != nil {
		return err
	}
	path, err := module.EscapePath(v.Path)
	if err != nil {
		return err
	}
	versions := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return err
	}
	for name, content := range map[string]string{"list": version + "\n", version + ".info": fmt.Sprintf("{%q:%q}\n", "Version", version), version + ".mod": string(text)} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	file, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := zip.CreateFromVCS(file, v, folder, "HEAD", ""); err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	fmt.Printf("%s: %.1f MB\n", v, float64(info.Size())/1e6)
	return file.Close()
}
