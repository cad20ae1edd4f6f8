package when

import (
	"strconv"
	"strings"
	"sync"
)

// vocabulary lists the words of time expressions: a kind, the value of the first
// word and, after each bar, of the next one. An underscore stands for a space or
// hyphen, and a plus for the endings of a German adjective.
//
//	D a day from today      U a unit                N a number     O of a day        R a rank, from the end below 0
//	I last, this, next      y a year from this one  W M S F Q      day of the week, month, season, feast, quarter
//	B before, 1: until      A after                 Z since        J a joint of two, 1: also a preposition
//	G ago, and before       V ago, before a number  p preposition: 1 in, 2 on, 3 of
//	H recently              r earlier, later        v the eve, the morrow        a skipped
const vocabulary = `
D -3 大前天|day_before_yesterday vorgestern avant_hier anteayer altro_ieri anteontem eergisteren позавчера 前天 一昨日 おととい 그저께|yesterday last_night gestern_morgen gestern hier hier_soir ayer ieri ontem gisteren вчера 昨天 昨日 昨晚 昨夜 어제|today tonight heute_morgen this_morning this_afternoon this_evening heute aujourd'hui ce_matin ce_soir hoy oggi hoje vandaag сегодня 今天 今日 今早 今晚 今朝 오늘|tomorrow morgen demain mañana domani amanhã завтра 明天 明日 明晚 내일|übermorgen après_demain 后天 後天 明後日
y -2 前年 一昨年 vorvorjahr avant_dernière_année|去年 昨年 작년 vorjahr an_dernier an_passé|今年 올해 beginning_of_the_year start_of_the_year jahresbeginn jahresanfang|明年 来年 내년 an_prochain
I -2 before_last vorletzt+ avant_dernier avant_dernière 上上 先々 지지난|last past previous prior preceding vorherig+ letzt+ vergangen+ vorig+ dernier dernière derniers dernières passé passée précédent précédente pasado pasada últimos últimas scorso scorsa ultimi ultime passado passada прошлой прошлом прошлую 上 上个 上個 上一 上一个 先 지난 过去 過去 过去的 近 ここ この|this current dies+ aktuell+ laufend+ ce cet cette ces este esta questo questa quest' этом этой 这 這 这个 這個 这一 本 本个 今 이번|next this_coming coming upcoming following que_viene nächst+ kommend+ prochain prochaine prochains prochaines suivant suivante próximo próxima prossimo prossima следующей 下 下个 下個 下一 下一个 来 未来 接下来 다음|übernächst+ after_next 下下
G 0 ago fa назад atrás 前 之前 以前 전
V 0 il_y_a hace há voici
B 0 before vor avant antes_de prima_di prima_del voor до перед|until till bis jusqu hasta 为止
A 0 after nach après después_de dopo после 后 後 之后 之後 以后 以後 후
Z 0 since ever_since seit depuis desde dal sinds sedan с 以来 以來 から 부터
J 0 to and through und et y e по 至 到 和|à au
p 1 in im during over early mid late en em pendant durante da в за dans within während anfang mitte ende start_of beginning_of end_of début_de fin_de début fin mi 在|on at am vom an zum zu über el во ab|of from by for between von zwischen de du des del d für pour entre 从 從
a 0 guten_morgen am_morgen the der die das den dem le la les l el los las gli il i nos no na nas that ça cela da's 个 個 的 の か ヶ 那 那个 份 间 間 里 內 内
r -1 earlier davor zuvor früher plus_tôt auparavant 再|later danach darauf später plus_tard ensuite
v -1 veille vorabend|lendemain
H 30 lately recently these_days of_late kürzlich neulich zuletzt in_letzter_zeit récemment ces_derniers_temps recientemente últimamente recentemente недавно 最近 최근
N 1 a an one ein eine einem einer einen un une uno una um uma один одну|two zwei deux dos due dois два две couple|three drei trois tres tre три few paar several einige einigen quelques unos unas qualche|four vier quatre cuatro quattro четыре|five fünf cinq cinco cinque пять|six sechs seis sei шесть|seven sieben siete sette семь|eight acht huit ocho otto восемь|nine neun neuf nueve nove девять|ten zehn dix diez dieci десять|eleven elf onze|twelve zwölf douze
R -1 最后 最後 末
R 1 first erst+ premier première premiers premières primera primer|second zweit+ deuxième|third dritt+ troisième|fourth viert+ quatrième|fifth fünft+ cinquième
U 1 day days tag tage tagen tages jour jours día días giorno giorni dia dias день дня дней 天 日 일|week weeks woche wochen semaine semaines semana semanas settimana settimane неделе неделю недели недель 周 週 週間 星期 礼拜 주|weekend weekends wochenende wochenendes week_end 周末 週末 주말|month months monat monate monaten monats mois mes meses mese mesi mês месяце месяц месяца месяцев 月 달|quarter quarters quartal quartals trimestre 季度|year years jahr jahre jahren jahres ans année années año años anno anni ano anos год года году лет 年 년|half_a_year half_year halben_jahr halbes_jahr 半年
M 1 january januar jan janvier enero gennaio janeiro январе января|february februar feb février febrero febbraio fevereiro феврале февраля|march märz mar mars marzo março марте марта|april apr avril abril aprile апреле апреля|may mai mayo maggio maio мае мая|june juni jun juin junio giugno junho июне июня|july juli jul juillet julio luglio julho июле июля|august aug août agosto августе августа|september sep sept septembre septiembre settembre setembro сентябре сентября|october oct oktober okt octobre octubre ottobre outubro октябре октября|november nov novembre noviembre novembro ноябре ноября|december dec dezember dez décembre diciembre dicembre dezembro декабре декабря
W 0 sunday sonntag dimanche domingo domenica воскресенье 周日 星期日 星期天 礼拜天 礼拜日 週日 日曜日 日曜 일요일|monday montag lundi lunes lunedì понедельник 周一 星期一 礼拜一 週一 月曜日 月曜 월요일|tuesday dienstag mardi martes martedì вторник 周二 星期二 礼拜二 週二 火曜日 火曜 화요일|wednesday mittwoch mercredi miércoles mercoledì среду 周三 星期三 礼拜三 週三 水曜日 水曜 수요일|thursday donnerstag jeudi jueves giovedì четверг 周四 星期四 礼拜四 週四 木曜日 木曜 목요일|friday freitag vendredi viernes venerdì пятницу 周五 星期五 礼拜五 週五 金曜日 金曜 금요일|saturday samstag sonnabend samedi sábado sabato субботу 周六 星期六 礼拜六 週六 土曜日 土曜 토요일
S 1 spring frühling frühjahr printemps primavera 春 春天 春季|summer sommer été verano 夏 夏天 夏季|autumn fall herbst automne otoño 秋 秋天 秋季|winter hiver invierno 冬 冬天 冬季
F 1 christmas xmas weihnachten noël navidad natale natal рождества рождество 圣诞节 圣诞 聖誕節 クリスマス 크리스마스|christmas_eve heiligabend|christmas_day|halloween|new_year's_eve silvester saint_sylvestre|new_year new_year's_day neujahr nouvel_an capodanno 元旦 新年
`

// The units in order of length.
const (
	aDay = 1 + iota
	aWeek
	aWeekend
	aMonth
	aQuarter
	aYear
	halfYear
)

// feasts are holidays with a fixed date: month, day, number of days.
var feasts = [][3]int{1: {12, 24, 3}, {12, 24, 1}, {12, 25, 1}, {10, 31, 1}, {12, 31, 1}, {1, 1, 1}}

// Words that indicate the past and the future. Verb forms that match [participle]
// count too, after an auxiliary where the language requires one.
var (
	pastWords = fields(`was were did had went made ran wrote got came took said saw ate bought met felt slept found gave spent spoke been done gone written seen eaten
		war waren warst wart hatte hatten hattest wurde wurden ging gingen lief machte machten tat schrieb kam kamen gab fand sah aß traf kaufte
		étais était étions étaient avais avait avions avaient fut passé 了 过 過 曾 刚 fui hice hicimos hizo pasó ho ero`)
	futureWords = fields(`will shall ll going next coming upcoming plan plans planned planning due scheduled tomorrow todo
		werde werden wird wirst werdet nächste nächsten nächster nächstes nächstem kommende kommenden geplant plane plan pläne fällig ansteht an_steht steht_an bevorsteht
		prochain prochaine prochains serai sera seront ferai feras fera ferons ferez feront aurai aura irai ira irons vais vas va allons allez vont prévu prévus prévue projet projets
		将 將 打算 计划 計劃 准备 安排 即将 未来`)
	auxiliaries = fields(`habe hab hast hat haben habt bin bist ist sind seid ai as avons avez ont suis es est sommes êtes sont`)
)

func fields(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// meaning is the meaning of a word in the vocabulary.
type meaning struct {
	kind  byte
	value int
}

// meanings maps all words of the vocabulary to their meanings, including the
// length of the longest phrase.
var meanings = sync.OnceValue(func() map[string]meaning {
	all := map[string]meaning{}
	for line := range strings.Lines(strings.TrimSpace(vocabulary)) {
		kind, rest, _ := strings.Cut(line, " ")
		first, words, _ := strings.Cut(rest, " ")
		value, _ := strconv.Atoi(first) //nolint:errcheck // a test checks the vocabulary
		for i, same := range strings.Split(words, "|") {
			for word := range strings.FieldsSeq(same) {
				stem, inflected := strings.CutSuffix(word, "+")
				endings := []string{""}
				if inflected {
					endings = []string{"e", "en", "em", "er", "es"}
				}
				for _, ending := range endings {
					all[stem+ending] = meaning{kind[0], value + i}
				}
			}
		}
	}
	return all
})

const longestWord = 5 // characters in a script without spaces
