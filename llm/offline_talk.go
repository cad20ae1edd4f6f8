package llm

import (
	"strings"

	"lifehub/pattern"
)

// talk are messages that need no tool, with what is said to them in English
// and in German.
var talk = []struct {
	said            pattern.Pattern
	english, german string
}{
	{
		pattern.Lazy(`(?i)^(?:hi|hello|hey|hiya|yo|howdy|greetings|good (?:morning|afternoon|evening|day)|hallo|moin|servus|grüezi|guten (?:tag|morgen|abend)|hola|salut|bonjour|你好|您好|こんにちは|안녕하세요)(?:[ ,]+(?:there|lifehub|again|everyone|zusammen|you))*$`),
		"Hello! Ask me about your notes, or tell me to add a task. I am offline just now, so I answer by quoting them.",
		"Hallo! Frag mich etwas zu deinen Notizen oder sag mir eine Aufgabe an. Ich bin gerade offline und antworte mit Zitaten daraus.",
	},
	{
		pattern.Lazy(`(?i)^(?:(?:many )?thanks?(?: you)?(?: (?:so|very) much| a lot| again)?|thx|ty|cheers|great,? thanks|perfect,? thanks|danke(?: schön| sehr| dir)?|vielen dank|merci|gracias|谢谢|ありがとう)(?:[ ,]+(?:lifehub|a lot|for (?:that|this|your help)))*$`),
		"You're welcome.", "Gern geschehen.",
	},
	{
		pattern.Lazy(`(?i)^(?:bye|goodbye|see you|see ya|good night|ciao|tschüss|auf wiedersehen|gute nacht|bis (?:bald|später))(?:[ ,]+(?:later|lifehub|soon|then))*$`),
		"See you! `/quit` or Ctrl+D closes LifeHub; this conversation is kept.",
		"Bis bald! `/quit` oder Strg+D beendet LifeHub; dieses Gespräch bleibt erhalten.",
	},
	{
		pattern.Lazy(`(?i)^(?:how are you(?: doing)?(?: today)?|how's it going|what's up|wie geht(?:'s| es dir| es ihnen)?)$`),
		"All is well here, thank you. What shall I look up in your notes?",
		"Danke, alles in Ordnung. Was soll ich in deinen Notizen nachsehen?",
	},
	{
		pattern.Lazy(`(?i)^(?:help|help me|who are you|what are you|what is lifehub|what can you do(?: for me)?|what do you do|how do(?:es)? (?:you|this|lifehub) work|what can i (?:do|ask)(?: here| you)?|hilfe|wer bist du|was kannst du|was bist du)$`),
		helpText, hilfeText,
	},
	{
		pattern.Lazy(`(?i)^(?:ok|okay|k|cool|nice|great|good|perfect|awesome|sounds good|got it|i see|alright|all right|yes|yep|yeah|no|nope|sure|never mind|nevermind|super|alles klar|gut|ja|nein|passt|test|testing|ping)$`),
		"All right. What next?", "Alles klar. Was als Nächstes?",
	},
}

const helpText = "I am LifeHub, a chat that knows your notes. No model server is running, so I answer by quoting your notes word for word, each quote with its place.\n\n" +
	"- Ask: *what do my notes say about running?*\n" +
	"- Tasks: *add a task call the dentist on friday* · *what is due?* · *complete task call the dentist*\n" +
	"- Notes: *create a note titled \"Lisbon\": pack light* · *add to note lisbon: passport* · *recent notes*\n" +
	"- The web: *search the web for marathon tips* · *read https://example.org* · *crawl https://example.org*\n" +
	"- Small things: *weather in Oslo tomorrow* · *15% of 80* · *what day is it?*\n\n" +
	"With Ollama running I also understand what is not said in such words."

const hilfeText = "Ich bin LifeHub, ein Chat, der deine Notizen kennt. Es läuft kein Modell, deshalb antworte ich mit wörtlichen Zitaten, jedes mit seiner Stelle.\n\n" +
	"- Fragen: *was steht in meinen Notizen über Laufen?*\n" +
	"- Aufgaben: *neue Aufgabe: Zahnarzt anrufen am Freitag* · *welche Aufgaben sind fällig?* · *erledige die Aufgabe Zahnarzt anrufen*\n" +
	"- Notizen: *erstelle eine Notiz „Lissabon“: wenig einpacken* · *zeige meine letzten Notizen*\n" +
	"- Das Web: *suche im Web nach Marathontipps* · *lies https://example.org*\n" +
	"- Kleines: *Wetter in Oslo morgen* · *was ist 15% von 80?*"

// smallTalk is the reply to a message that needs no tool; "" when it needs one.
func smallTalk(message string, german bool, tools []ToolSpec) string {
	said := strings.Trim(oneLine(message), " .!?,;:)('\"。！？…🙂😀👋👍🙏")
	if said == "" {
		return choose(german, "Ask me anything about your notes.", "Frag mich etwas zu deinen Notizen.")
	}
	const most = 60 // bytes; a greeting is short
	if len(said) > most {
		return ""
	}
	for _, t := range talk {
		if t.said.MatchString(said) {
			return choose(german, t.english, t.german)
		}
	}
	if weatherAsked.MatchString(said) && !aboutMine.MatchString(said) {
		if _, ok := offered(tools, "get_weather"); ok && bareWeather.MatchString(said) {
			return choose(german, "For which place? Write for example *weather in Oslo tomorrow*.", "Für welchen Ort? Zum Beispiel: *Wetter in Oslo morgen*.")
		}
	}
	return ""
}

// bareWeather is a question about the weather that names no place.
var bareWeather = pattern.Lazy(`(?i)^(?:(?:what(?:'s|’s| is)|how(?:'s|’s| is)|wie (?:ist|wird)|will it|is it going to|does it)\s+)?(?:the\s+|das\s+)?(?:weather|forecast|weather forecast|wetter|rain|snow)(?:\s+(?:like|today|tomorrow|now|this week|this weekend|heute|morgen))*$`)
