package encoder

import (
	"context"
	"testing"

	"lifehub/llm"
	"lifehub/rag/passage"
)

// named is an embedder with a name only.
type named struct{ name string }

func (e named) Name() string                                       { return e.name }
func (named) Embed(context.Context, []string) ([][]float32, error) { return nil, nil }

// windowedAs is an embedder whose server reports how many tokens of a text it reads.
type windowedAs struct {
	named
	window int
}

func (e windowedAs) Window() int { return e.window }

func TestModelsAreUsedAsTheyWereTrained(t *testing.T) {
	for name, want := range map[string]embeddingModel{
		"ollama/nomic-embed-text:latest@0a109f422b47":      {"search_query: ", "search_document: ", 2048, false},
		"openai/intfloat/multilingual-e5-base":             {"query: ", "passage: ", 512, true},
		"ollama/snowflake-arctic-embed2:568m@5de93a84837d": {"query: ", "", 8192, true},
		"ollama/bge-m3:latest@790764642607":                {"", "", 8192, true},
		"ollama/embeddinggemma:300m@85462619ee72": {
			"task: search result | query: ",
			"title: none | text: ", 2048, true,
		},
		"ollama/somebody/qwen3-embedding:0.6b@ac6da0dfba84": {"Instruct: Given a web search query, retrieve relevant " +
			"passages that answer the query\nQuery:", "", 8192, true},
		"ollama/mxbai-embed-large:latest@468836162de7": {"Represent this sentence for searching relevant " +
			"passages: ", "", 512, false},
		"ollama/all-minilm:22m@1b226e2802db": {"", "", 256, false},
		"openai/a-model-nobody-heard-of":     {},
	} {
		if got := modelByName(name); got != want {
			t.Errorf("%s is used as %+v, want %+v", name, got, want)
		}
	}
}

func TestWindowIsTheSmallerOfServerAndModel(t *testing.T) {
	for _, c := range []struct {
		embedder llm.Embedder
		want     int
	}{
		{named{"openai/unheard-of"}, passage.UsualWindow},
		{named{"openai/use-lite"}, 128},
		{windowedAs{named{"ollama/unheard-of@1"}, 256}, 256},
		{windowedAs{named{"ollama/unheard-of@1"}, 0}, passage.UsualWindow},
		{windowedAs{named{"ollama/all-minilm@1"}, 512}, 256}, // the server allows more than the model was trained for
	} {
		if got := WindowOf(c.embedder); got != c.want {
			t.Errorf("%s reads %d tokens, want %d", c.embedder.Name(), got, c.want)
		}
	}
}
