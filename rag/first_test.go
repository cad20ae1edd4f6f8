package rag

import (
	"context"
	"fmt"
	"testing"
	"time"

	"lifehub/rag/encoder"
)

// Of a large folder that is new, the notes with the words of a question are read first, the others then.
func TestNotesWithTheWordsOfAQuestionAreReadFirst(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"zz/kettle.md": "# Kettle\n\nThe Köpfer kettle whistles.\n",
		"zz/tea.md":    "# Tea\n\nA kettle of tea.\n",
	}
	for i := range fewNotes + 200 {
		files[fmt.Sprintf("a/%d.md", i)] = fmt.Sprintf("# Note %d\n\nNothing of it.\n", i)
	}
	folder, x := vault(t, files)
	waiting, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	granted, done, read := make(chan bool, 1), make(chan error, 1), 0
	go func() { granted <- x.First(waiting, "an older question") }()
	for x.wish.Load() == nil {
		time.Sleep(time.Millisecond)
	}
	go func() { granted <- x.First(waiting, "where is the kopfer kettle?") }()
	if !<-granted {
		t.Fatal("a newer question keeps the older one waiting")
	}
	go func() {
		_, err := x.Sync(t.Context(), folder, encoder.Encoder{}, func(p Progress) { read = max(read, p.Done) })
		done <- err
	}()
	if !<-granted {
		t.Fatal("nothing was read first")
	}
	found, err := x.Search(t.Context(), Query{Text: "Köpfer kettle"})
	if err != nil || len(found.Passages) != 2 || found.Passages[0].Path != "zz/kettle.md" {
		t.Errorf("%+v, %v", found.Passages, err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if c, err := x.Coverage(t.Context()); err != nil || c.Indexed != len(files) || c.Unread != 0 || read < len(files) {
		t.Errorf("%+v, %v", c, err)
	}
	few, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if x.First(few, "kettle") {
		t.Error("it returned without a sync")
	}
}
