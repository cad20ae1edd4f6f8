package evalmodels

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// result is a line of the file of results: the outcome of a task with a model.
type result struct {
	Time    time.Time `json:"time"`
	LifeHub string    `json:"lifehub"` // version
	Suite   string    `json:"suite"`
	Model   string    `json:"model"`
	Digest  string    `json:"digest,omitempty"` // of the model; "" if the server reports none
	Think   string    `json:"think"`
	Run     time.Time `json:"run"` // start of that model's run
	Task    string    `json:"task"`
	Role    string    `json:"role"`
	outcome
}

// right reports whether the task was done right. The checks in [besides] are shown but do not
// count.
func (r result) right() bool {
	for name, passed := range r.Checks {
		if !passed && !slices.Contains(besides, name) {
			return false
		}
	}
	return true
}

// archive is the path of the file of results, one line per task. Lines are only appended.
type archive string

// read returns the results of a suite, in order. Invalid lines, as left by a run killed while
// writing, are skipped.
func (a archive) read(suite string) (list []result, err error) {
	text, err := os.ReadFile(string(a))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the results: %w", err)
	}
	for line := range bytes.Lines(text) {
		var r result
		if json.Unmarshal(line, &r) == nil && r.Suite == suite {
			list = append(list, r)
		}
	}
	return list, nil
}

// add appends results. It first ends an incomplete last line.
func (a archive) add(results ...result) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("save the results: %w", err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(string(a)), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(string(a), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	var lines bytes.Buffer
	if info, err := file.Stat(); err == nil && info.Size() > 0 {
		var last [1]byte
		if _, err := file.ReadAt(last[:], info.Size()-1); err == nil && last[0] != '\n' {
			lines.WriteByte('\n')
		}
	}
	for _, r := range results {
		raw, err := json.Marshal(r)
		if err != nil {
			return err
		}
		lines.Write(append(raw, '\n'))
	}
	_, err = file.Write(lines.Bytes())
	return err
}

// run is the results of a model in one run, by task.
type run struct {
	result // any of them, for the fields they share
	by     map[string]result
}

// whole reports whether all tasks were tried.
func (r run) whole(s suite) bool { return len(r.by) == len(s.Tasks) }

// runs returns the runs of a model, oldest first.
func runs(list []result, model string) (all []run) {
	for _, r := range list {
		if r.Model != model {
			continue
		}
		if n := len(all); n == 0 || !all[n-1].Run.Equal(r.Run) {
			all = append(all, run{r, map[string]result{}})
		}
		all[len(all)-1].by[r.Task] = r
	}
	return all
}

// next returns the run to continue: the model's last one if it was interrupted and nothing has
// changed since, or else a new one.
func next(list []result, s suite, as result) run {
	if all := runs(list, as.Model); len(all) > 0 {
		last := all[len(all)-1]
		if !last.whole(s) && last.LifeHub == as.LifeHub && last.Digest == as.Digest && last.Think == as.Think {
			return last
		}
	}
	return run{as, map[string]result{}}
}

// earlier returns the model's last complete run before now, or nil.
func earlier(list []result, s suite, now run) *run {
	var found *run
	for _, r := range runs(list, now.Model) {
		if r.Run.Before(now.Run) && r.whole(s) {
			found = &r
		}
	}
	return found
}
