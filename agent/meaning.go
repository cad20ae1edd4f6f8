package agent

import "lifehub/internal/pattern"

// fillers say nothing of their own, and may stand in one text and not in the
// other.
var fillers = wordSet(`
	a an the this that these those and also
	der die das den dem des ein eine einen einem einer eines und auch`)

func isFiller(t token) bool { return fillers[t.text] }

// speakers are whom a note leaves out: "ran 10 km".
var speakers = wordSet(`i we ich wir 我`)

// toReader is how an answer says to the reader what the note says of itself.
// Not the other way round: "you owe me" is not "I owe you".
var toReader = map[string]string{
	"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "am": "are",
	"we": "you", "us": "you", "our": "your", "ours": "yours", "ourselves": "yourselves",
	"ich": "du", "mich": "dich", "mir": "dir", "mein": "dein", "meine": "deine", "meinen": "deinen", "meinem": "deinem",
	"meiner": "deiner", "meines": "deines", "bin": "bist", "habe": "hast", "我": "你",
}

// sameWord tells whether a word of a note and a word of an answer say the same.
func sameWord(note, said token) bool {
	if note.text == said.text || toReader[note.text] == said.text {
		return true
	}
	return !note.capital && !said.capital && stem(note) == stem(said) // Adams is not Adam
}

// attribution is what an answer puts before the words of a note.
var (
	attribution = wordSet(`according to as has it per in your my the note notes say says said state states mention mentions you noted wrote that laut deiner deinen notiz notizen`)
	attributes  = wordSet(`according as note notes noted wrote laut notiz notizen`)
	addressed   = wordSet(`you du 你 您`)
)

// beginningsOf lists where the words of a note may begin in a claim: at once,
// after "you", or after what only names the note.
func beginningsOf(claim []token) []int {
	begins := []int{0}
	if len(claim) > 0 && addressed[claim[0].text] {
		begins = append(begins, 1)
	}
	named := false
	for i, tok := range claim {
		if !attribution[tok.text] {
			break
		}
		if named = named || attributes[tok.text]; named {
			begins = append(begins, i+1)
		}
	}
	return begins
}

// reporting is what an answer says around a quotation to tell that it is one.
var reporting = wordSet(`
	according per say says said saying write writes wrote written note notes noted mention mentions mentioned state states stated
	read reads record records recorded list lists listed line entry page section heading passage text quote quotes quoted word words exactly literally
	laut sagt sagst schreibt schreibst schrieb steht stehen heißt notiert notiz notizen zeile abschnitt zitat wörtlich
	笔 记 說 说 写 到 中 里 你 的 在 提 道`)

// turns tells a word that turns the sentence in which it stands.
func turns(t token) bool { return turning[t.text] }

var (
	// turning words make the opposite of a sentence, or take it back.
	turning = wordSet(`
	not no never none nor neither nobody nothing nowhere without except unlike instead cannot cant dont doesnt didnt isnt arent wasnt werent
	wont wouldnt shouldnt couldnt hasnt havent hadnt mustnt neednt aint non hardly barely scarcely seldom rarely few false wrong untrue myth incorrect cancelled canceled
	obsolete outdated rejected denied refuted stop avoid
	nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne außer statt kaum selten wenige falsch abgesagt
	ne pas jamais rien aucun aucune sans sauf ni nunca jamás nada nadie ningún ninguna ninguno sin salvo excepto tampoco
	niente nulla nessuno nessuna senza tranne né não ninguém nenhum nenhuma sem exceto nem
	niet geen nooit niets zonder behalve inte ingen inget inga aldrig utan ikke değil hiç
	не нет ни никогда ничего никто нельзя без кроме لا ليس ليست لم لن غير بدون
	不 没 無 无 未 非 勿 莫 否 別 别 禁 ❌ ✗ ✘ 🚫`)
	// hedges weaken it.
	hedges = wordSet(`
	if unless maybe perhaps might could would should supposedly allegedly probably almost nearly only
	whether wonder wonders think thinks thought believe believes believed doubt doubts guess guesses hope hopes hoped claim claims claimed pretend pretends suppose imagine dream dreamt dreamed rumour rumor
	falls sofern wenn ob glaubt glaube meint vermutet hofft vielleicht sollte könnte würde angeblich wahrscheinlich fast nur behauptet geträumt traum gerücht
	si pense croit quizás cree forse crede talvez acha если возможно кажется думает
	如 若 或 吗`)

	// turnedEnding is a "not" within a word of Japanese or Korean.
	turnedEnding = pattern.Lazy(`な(?:い|く|かっ|ければ)|ません|ずに|않|못|없|아니|지 ?마`)
	clauseEnd    = pattern.Lazy(`[。、，,；;！!？?\n]`)
)
