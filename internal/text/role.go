package text

import (
	"strconv"
	"strings"
	"sync"

	"lifehub/internal/pattern"
)

// Role is what a word does in a sentence besides meaning something.
type Role uint16

const (
	Saying       Role = 1 << iota // it says that a note says something, and nothing of what
	Narrowing                     // it is common, and changes what is said all the same
	Negation                      // it makes the opposite of a sentence, or takes it back
	Not                           // it only makes the opposite
	Hedge                         // it weakens a sentence
	Condition                     // what follows is not said to be so
	Contrast                      // it sets a sentence against the one before, or into the past
	Abbreviation                  // a full stop belongs to it
)

var roles = sync.OnceValue(func() map[string]Role {
	index := map[string]Role{}
	for role, words := range map[Role]string{
		Saying: `
			according per as note notes noted mention mentions mentioned state states stated said say says write writes wrote written
			laut notiz notizen`,
		Narrowing: `can may must now or than kann können muss soll oder bis durch`,
		Negation: `
			not no never none nor neither nobody nothing nowhere without except unlike instead cannot cant dont doesnt didnt isnt arent wasnt werent
			wont wouldnt shouldnt couldnt hasnt havent hadnt mustnt neednt aint non hardly barely scarcely seldom rarely few false wrong untrue myth incorrect cancelled canceled
			obsolete outdated rejected denied refuted stop avoid
			nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne außer statt kaum selten wenige falsch abgesagt
			ne pas jamais rien aucun aucune sans sauf ni nunca jamás nada nadie ningún ninguna ninguno sin salvo excepto tampoco
			niente nulla nessuno nessuna senza tranne né não ninguém nenhum nenhuma sem exceto nem
			niet geen nooit niets zonder behalve inte ingen inget inga aldrig utan ikke değil hiç
			не нет ни никогда ничего никто нельзя без кроме لا ليس ليست لم لن غير بدون
			不 没 無 无 未 非 勿 莫 否 別 别 禁 ❌ ✗ ✘ 🚫`,
		Not: `
			not no never none nor neither nobody nothing nowhere cannot cant dont doesnt didnt isnt arent wasnt werent
			wont wouldnt shouldnt couldnt hasnt havent hadnt mustnt neednt aint
			nicht kein keine keinen keinem keiner keines nie niemals niemand nichts`,
		Hedge: `
			if unless maybe perhaps might could would should supposedly allegedly probably almost nearly only solely merely just
			whether wonder wonders think thinks thought believe believes believed doubt doubts guess guesses hope hopes hoped claim claims claimed pretend pretends suppose imagine dream dreamt dreamed rumour rumor
			falls sofern wenn ob glaubt glaube meint vermutet hofft vielleicht sollte könnte würde angeblich wahrscheinlich fast nur behauptet geträumt traum gerücht
			si pense croit quizás cree forse crede talvez acha если возможно кажется думает
			如 若 或 吗`,
		Condition: `if unless until whether falls sofern bis wenn ob si se если 如 若`,
		Contrast: `
			but however though although yet formerly previously before earlier once former used later then actually
			aber jedoch doch früher vorher zuvor später mais pero sed ma но但`,
		Abbreviation: `dr mr mrs ms prof st no nr vs e.g i.e ca approx bzw usw z.b d.h u.a etc jr sr`,
	} {
		for word := range strings.FieldsSeq(words) {
			index[word] |= role
		}
	}
	return index
})

// Is reports whether a word, in lower case, has one of some roles.
func Is(word string, in Role) bool { return roles()[word]&in != 0 }

// NegatesWithin reports whether a text holds a "not" within a word of Japanese
// or Korean.
func NegatesWithin(s string) bool { return negatedEnding.MatchString(s) }

var negatedEnding = pattern.Lazy(`な(?:い|く|かっ|ければ)|ません|ずに|않|못|없|아니|지 ?마`)

// Unit is the canonical name of a unit of measure; "" for what is none.
func Unit(word string) string { return units()[word] }

var units = sync.OnceValue(func() map[string]string {
	index := map[string]string{}
	for _, names := range []string{
		"% percent prozent pct", "€ eur euro euros", "$ usd dollar dollars", "£ gbp", "¥ yen",
		"km kilometer kilometers kilometre kilometres", "m meter meters metre metres", "cm centimeter centimeters centimetre centimetres", "mm millimeter millimeters",
		"mi mile miles", "ft foot feet", "inch inches", "yd yard yards",
		"kg kilo kilos kilogram kilograms", "g gram grams gramm", "mg milligram milligrams", "µg mcg microgram micrograms", "lb lbs", "oz ounce ounces", "ton tons tonne tonnes",
		"l liter liters litre litres", "ml milliliter milliliters millilitre millilitres", "dl", "cup cups", "tsp teaspoon teaspoons", "tbsp tablespoon tablespoons",
		"°C °c celsius", "°F °f fahrenheit", "K kelvin",
		"ms millisecond milliseconds", "s sec secs second seconds sekunde sekunden", "min mins minute minutes minuten", "h hr hrs hour hours stunde stunden uhr",
		"day days tag tage tagen", "week weeks woche wochen", "month months monat monate monaten", "year years jahr jahre jahren", "decade decades", "century centuries",
		"thousand tausend", "million millions mio", "billion billions mrd", "trillion trillions",
		"B byte bytes", "KB kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "W watt watts", "kW", "MW", "mW", "kWh", "V volt volts", "amp amps", "Hz", "kHz", "MHz", "GHz",
		"am a.m", "pm p.m",
	} {
		words := strings.Fields(names)
		for _, word := range words {
			index[word] = words[0]
		}
	}
	return index
})

// NumberWord is the digits of a number that is written as a word, in lower case,
// in English or German; "" for what is none.
func NumberWord(word string) string { return numberWords()[word] }

var numberWords = sync.OnceValue(func() map[string]string {
	index := map[string]string{}
	for digits, words := range strings.Fields(`zero,null one,first,once,single,a,an,eins,ein,eine,erste two,second,twice,both,couple,pair,zwei,zweite
		three,third,thrice,drei,dritte four,fourth,vier five,fifth,fünf six,sixth,sechs seven,seventh,sieben eight,eighth,acht nine,ninth,neun
		ten,tenth,zehn eleven,eleventh,elf twelve,twelfth,dozen,zwölf thirteen fourteen fifteen sixteen seventeen eighteen nineteen`) {
		for word := range strings.SplitSeq(words, ",") {
			index[word] = strconv.Itoa(digits)
		}
	}
	for i, word := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety hundred") {
		index[word] = strconv.Itoa(20 + 10*i)
	}
	return index
})
