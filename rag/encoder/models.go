package encoder

import (
	"cmp"
	"math"
	"strings"

	"lifehub/llm"
	"lifehub/rag/passage"
)

// embeddingModel is what must be known of an embedding model to use it as it
// was trained. Text is handed over with these words in front.
type embeddingModel struct {
	query    string // before a question
	document string // before a passage
	window   int    // tokens it reads of a text; the rest is lost

	// manyLanguages: a question in one language finds notes in another.
	manyLanguages bool
}

// embeddingModels lists models by a part of their name, first match wins.
// Sources are the model cards on huggingface.co under the names given.
var embeddingModels = []struct {
	part string
	embeddingModel
}{
	// Package encoder, which adds up pieces of words, however long the text.
	{builtIn, embeddingModel{"", "", math.MaxInt32, true}},
	// nomic-ai/nomic-embed-text-v2-moe, about a hundred languages.
	{"nomic-embed-text-v2", embeddingModel{"search_query: ", "search_document: ", 512, true}},
	// nomic-ai/nomic-embed-text-v1.5, "Usage: the text prompt must include a task instruction prefix".
	{"nomic-embed", embeddingModel{"search_query: ", "search_document: ", 2048, false}},
	// nomic-ai/modernbert-embed-base, same prefixes.
	{"modernbert-embed", embeddingModel{"search_query: ", "search_document: ", 8192, false}},
	// intfloat/multilingual-e5-large-instruct: queries carry an instruction, documents nothing.
	{"e5-large-instruct", embeddingModel{"Instruct: Given a web search query, retrieve relevant passages that answer " +
		"the query\nQuery: ", "", 512, true}},
	{"e5-mistral", embeddingModel{"Instruct: Given a web search query, retrieve relevant passages that answer the " +
		"query\nQuery: ", "", 4096, true}},
	{"multilingual-e5", embeddingModel{"query: ", "passage: ", 512, true}},
	// intfloat/e5-base-v2, intfloat/multilingual-e5-base: "each input text should start with query: or passage: ".
	{"e5-", embeddingModel{"query: ", "passage: ", 512, false}},
	// BAAI/bge-m3: "no need to add instructions to the queries".
	{"bge-m3", embeddingModel{"", "", 8192, true}},
	// BAAI/bge-large-zh-v1.5.
	{"bge-large-zh", embeddingModel{"为这个句子生成表示以用于检索相关文章：", "", 512, false}},
	{"bge-base-zh", embeddingModel{"为这个句子生成表示以用于检索相关文章：", "", 512, false}},
	{"bge-small-zh", embeddingModel{"为这个句子生成表示以用于检索相关文章：", "", 512, false}},
	// BAAI/bge-large-en-v1.5, "instruction for queries in retrieval".
	{"bge-", embeddingModel{"Represent this sentence for searching relevant passages: ", "", 512, false}},
	// mixedbread-ai/mxbai-embed-large-v1, the same words.
	{"mxbai-embed", embeddingModel{"Represent this sentence for searching relevant passages: ", "", 512, false}},
	// Snowflake/snowflake-arctic-embed-l-v2.0: "query: " before queries only.
	{"arctic-embed2", embeddingModel{"query: ", "", 8192, true}},
	{"arctic-embed-l-v2", embeddingModel{"query: ", "", 8192, true}},
	{"arctic-embed-m-v2", embeddingModel{"query: ", "", 8192, true}},
	// Snowflake/snowflake-arctic-embed-m (version 1 and 1.5).
	{"arctic-embed", embeddingModel{"Represent this sentence for searching relevant passages: ", "", 512, false}},
	// Qwen/Qwen3-Embedding-0.6B: instruction for queries, none for documents.
	{"qwen3-embedding", embeddingModel{"Instruct: Given a web search query, retrieve relevant passages that answer " +
		"the query\nQuery:", "", 8192, true}},
	// google/embeddinggemma-300m, "Prompt instructions".
	{"embeddinggemma", embeddingModel{"task: search result | query: ", "title: none | text: ", 2048, true}},
	// ibm-granite/granite-embedding, thenlper/gte, sentence-transformers: none.
	{"granite-embedding", embeddingModel{"", "", 512, false}},
	{"gte-", embeddingModel{"", "", 512, false}},
	{"all-minilm", embeddingModel{"", "", 256, false}},
	{"paraphrase-multilingual", embeddingModel{"", "", 128, true}},
	// Universal Sentence Encoder lite reads 128 tokens.
	{"use-lite", embeddingModel{"", "", 128, false}},
	{"universal-sentence-encoder", embeddingModel{"", "", 128, false}},
	{"text-embedding-3", embeddingModel{"", "", 8191, true}},
}

// modelByName looks up a model by an embedder's name, which may have a provider before
// and a version after it. Unknown models have no prefixes.
func modelByName(name string) embeddingModel {
	name = strings.ToLower(name)
	for _, m := range embeddingModels {
		if strings.Contains(name, m.part) {
			return m.embeddingModel
		}
	}
	return embeddingModel{}
}

// ManyLanguages reports whether a question in one language finds notes in another.
func ManyLanguages(model string) bool { return modelByName(model).manyLanguages }

// builtIn begins the names of models that are part of the program.
const builtIn = "built-in/"

// IsBuiltIn reports whether a model is part of the program and needs no server.
func IsBuiltIn(model string) bool { return strings.HasPrefix(model, builtIn) }

// WindowOf returns how many tokens of a text an embedder reads: as reported by its
// server, else as known for the model, else the usual number.
func WindowOf(embedder llm.Embedder) int {
	known := modelByName(embedder.Name()).window
	if says, ok := embedder.(interface{ Window() int }); ok && says.Window() > 0 {
		if known > 0 {
			return min(known, says.Window())
		}
		return says.Window()
	}
	return cmp.Or(known, passage.UsualWindow)
}

// Prefixes returns the texts that an embedding model, given by its embedder's name,
// expects before a question and before a text to be found.
func Prefixes(embedder string) (question, text string) {
	m := modelByName(embedder)
	return m.query, m.document
}
