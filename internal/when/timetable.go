package when

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// plainTimes are tried in order, the more exact one first. They are made at
// their first use, as a start has none.
var plainTimes = sync.OnceValue(func() []plainTime {
	month, day, season, feast := oneOf(monthNames), oneOf(weekdays), oneOf(seasons), oneOf(feasts)
	count, unit, nth := oneOf(counts), oneOf(timeUnits), oneOf(ordinals)
	const (
		year  = `(?P<year>(?:19|20)\d\d)`
		last  = `(?:last|past|previous|letzte[nmrs]?|vergangene[nmrs]?|vorige[nmrs]?)`
		this  = `(?:this|diese[nmrs]?)`
		which = `(?P<which>last|past|this|letzte[nmrs]?|vergangene[nmrs]?|diese[nmrs]?)`
		in    = `(?:in|im|during|since|before|after|until|vor|nach|bis|avant|après|from|of|between|early|mid|late|seit|von|zwischen|anfang|mitte|ende|en|em|depuis|pendant|desde|durante|da|dal|sinds|в|с|за)`
	)
	return []plainTime{
		spaced(year+`[-/.](?P<month>\d\d?)[-/.](?P<day>\d\d?)(?:t\d\d:\d\d[\d:.z]*)?`, dayOfMonth, 0),
		spaced(`(?P<first>\d{1,2})\.? ?(?:–|-|to|bis) ?(?P<day>\d{1,2})\.? (?P<month>`+month+`)(?:,? `+year+`)?`, dayOfMonth, 0),
		spaced(`(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?(?: of| de)? (?P<month>`+month+`)(?:\.?,?(?: de| del)? `+year+`)?`, dayOfMonth, 0),
		spaced(`(?P<month>`+month+`)\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,? `+year+`)?`, dayOfMonth, 0),
		spaced(`(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})`, dayOfMonth, 0),
		spaced(`(?:am|vom|seit|bis) (?P<day>\d{1,2})\.(?P<month>\d{1,2})\.`, dayOfMonth, 0),
		spaced(`(?:on|since|from|by) the (?P<day>\d{1,2})(?:st|nd|rd|th)`, dayOfMonth, 0),
		unspaced(`(?:(?P<year>\d{4})[年년] ?)?(?P<month>\d{1,2})[月월] ?(?P<day>\d{1,2})[日号號일]`, dayOfMonth, 0),

		spaced(`(?:the )?day before yesterday|vorgestern|avant-hier|anteayer|altro ieri|anteontem|eergisteren|позавчера`, aDay, -2),
		unspaced(`前天|一昨日|おととい|그저께`, aDay, -2),
		spaced(`yesterday|last night|gestern|hier|ayer|ieri|ontem|gisteren|вчера`, aDay, -1),
		unspaced(`昨天|昨日|昨晚|昨夜|어제`, aDay, -1),
		spaced(`today|tonight|this (?:morning|afternoon|evening)|heute|aujourd['’]hui|hoy|oggi|hoje|vandaag|сегодня`, aDay, 0),
		unspaced(`今天|今日|今早|今晚|今朝|오늘`, aDay, 0),
		spaced(`(?:the )?day after tomorrow|übermorgen`, aDay, 2),
		spaced(`tomorrow|demain|domani|завтра`, aDay, 1),
		unspaced(`明天|明日|내일`, aDay, 1),

		spaced(`(?:the )?weekend before last|vorletzte[sn]? wochenende`, aWeekend, -2),
		spaced(last+` (?:weekend|wochenende)|le week-end dernier`, aWeekend, -1),
		unspaced(`上个?(?:周|週)末|先週末`, aWeekend, -1),
		spaced(this+` (?:weekend|wochenende)`, aWeekend, 0),
		spaced(`(?:at|on|over) the weekend|am wochenende`, aWeekend, lastBegun),
		spaced(`(?:this|diese[nm]|kommenden) (?P<day>`+day+`)`, dayOfWeek, 0),
		spaced(`(?:(?:on|since|from|between|by|am|vom|von|seit|zwischen|el|depuis|desde|da|в|во|с) )?`+last+` (?P<day>`+day+`)`, aWeekday, 0),
		spaced(`(?:on|since|from|between|by|am|vom|von|seit|zwischen|el|depuis|desde|da|в|во|с) (?P<day>`+day+`)`, aWeekday, 0),
		spaced(`(?P<day>`+day+`)(?:['’]s| dernier| pasado| scorso| last)`, aWeekday, 0),
		unspaced(`(?:上周|上週|上星期|上礼拜)(?P<day>[一二三四五六日天])`, dayOfWeek, -1),
		unspaced(`先週の(?P<day>[月火水木金土日])曜日?`, dayOfWeek, -1),
		unspaced(`(?:[这這本](?:周|週|星期|礼拜)|今週の)(?P<day>[一二三四五六日天月火水木金土])`, dayOfWeek, 0),
		unspaced(`(?:星期|礼拜|禮拜|周|週)(?P<day>[一二三四五六日天])`, aWeekday, 0),
		unspaced(`(?P<day>[月火水木金土日])曜日?`, aWeekday, 0),
		unspaced(`(?P<day>[월화수목금토일])요일`, aWeekday, 0),

		spaced(`(?:the )?(?:first|second|third|fourth|last) (?:week|weekend|days?) (?:of|in) (?P<month>`+month+`)(?: `+year+`)?`, monthNamed, 0),
		spaced(`half a year ago|vor einem halben jahr`, aMonth, -6),
		spaced(`(?:the )?week before last|vorletzte[nr]? woche`, aWeek, -2),
		unspaced(`上上(?:周|週|个?星期)|先々週|지지난 ?주`, aWeek, -2),
		spaced(last+` week|`+last+` woche|(?:la )?semaine dernière|(?:la )?semana pasada|(?:la )?semana passada|(?:la )?settimana scorsa|(?:на )?прошлой неделе`, aWeek, -1),
		unspaced(`上个?(?:周|週|星期|礼拜)|先週|지난 ?주`, aWeek, -1),
		spaced(this+` (?:week|woche)|cette semaine|esta semana|questa settimana|на этой неделе`, aWeek, 0),
		unspaced(`[这這本]个?(?:周|週|星期|礼拜)|今週|이번 ?주`, aWeek, 0),
		spaced(`next week|(?:nächste[nr]?|kommende[nr]?) woche`, aWeek, 1),
		unspaced(`下个?(?:周|週|星期|礼拜)|来週|다음 ?주`, aWeek, 1),

		spaced(`(?:the )?month before last|vorletzte[nr]? monat`, aMonth, -2),
		unspaced(`上上个?月|先々月|지지난 ?달`, aMonth, -2),
		spaced(last+` (?:month|monat)|(?:le )?mois dernier|(?:el )?mes pasado|(?:il )?mese scorso|(?:no )?mês passado|(?:в )?прошлом месяце`, aMonth, -1),
		unspaced(`上个月|上個月|上月|先月|지난 ?달`, aMonth, -1),
		spaced(this+` (?:month|monat)|ce mois(?:-ci)?|este mes|questo mese|в этом месяце`, aMonth, 0),
		unspaced(`[这這]个?個?月|本月|今月|이번 ?달`, aMonth, 0),
		spaced(`next month|(?:nächste[nr]?|kommende[nr]?) monat`, aMonth, 1),
		unspaced(`下个?月|下個月|来月|다음 ?달`, aMonth, 1),
		spaced(last+` (?:quarter|quartal)`, aQuarter, -1),
		spaced(this+` (?:quarter|quartal)`, aQuarter, 0),
		spaced(`(?:the )?year before last|vorletzte[ns]? jahr`, aYear, -2),
		spaced(last+` (?:year|jahr)|l['’](?:année dernière|an dernier)|(?:el )?año pasado|(?:l['’])?anno scorso|(?:no )?ano passado|(?:в )?прошлом году`, aYear, -1),
		spaced(`next year|(?:nächste|kommende)[ns]? jahr`, aYear, 1),
		spaced(this+` (?:year|jahr)|(?:the )?(?:beginning|start) of the year|jahresbeginn|jahresanfang|cette année|este año|quest['’]anno|este ano|в этом году`, aYear, 0),

		spaced(`(?:a )?(?P<n>\d{1,4}|`+count+`)(?: of)? (?P<unit>`+unit+`) (?:ago|fa|назад|atrás)`, ago, 0),
		spaced(`(?:vor|il y a|hace|há) (?:ein )?(?P<n>\d{1,4}|`+count+`) (?P<unit>`+unit+`)`, ago, 0),
		unspaced(`(?P<n>\d{1,4}|[一两二三四五六七八九十几]) ?[个個か]?ヶ?(?P<unit>天|日|周|週|週間|星期|月|年|일|주|달|년)(?:以?前| ?전)`, ago, 0),
		spaced(`(?:in |over |during |within |for )?(?:the )?`+last+` (?P<n>\d{1,4}|`+count+`)(?: of)? (?P<unit>`+unit+`)`, theLast, 0),
		spaced(`(?:les|los|las|gli|le|nos) (?P<n>\d{1,4}|`+count+`) (?:derniers|dernières|últimos|últimas|ultimi|ultime) (?P<unit>`+unit+`)`, theLast, 0),
		spaced(`(?:los|las|gli|le|nos|nas) (?:últimos|últimas|ultimi|ultime) (?P<n>\d{1,4}|`+count+`) (?P<unit>`+unit+`)`, theLast, 0),
		unspaced(`(?:过去|過去|最近|近|ここ|この) ?(?P<n>\d{1,4}|[一两二三四五六七八九十几]) ?[个個か]?ヶ?(?P<unit>天|日|周|週|星期|月|年)`, theLast, 0),
		spaced(`lately|recently|these days|of late|kürzlich|neulich|zuletzt|in letzter zeit|récemment|recientemente|últimamente|recentemente|недавно`, recently, 30),
		unspaced(`最近|최근`, recently, 30),

		spaced(which+` (?P<season>`+season+`)`, seasonOf, 0),
		spaced(`(?P<season>`+season+`) (?:of )?`+year, seasonOf, 0),
		spaced(`(?:(?:in|during|since|over) the|in|im|seit|en|en el|en la|in) (?P<season>`+season+`)`, seasonOf, 0),
		unspaced(`(?P<which>去年|昨年|今年)[的の]?(?P<season>[春夏秋冬])[天季]?`, seasonOf, 0),
		unspaced(`(?P<season>[春夏秋冬])[天季]`, seasonOf, 0),
		spaced(`(?:at|on|over|during|around|since|before|until|till|after|last|this|an|zu|über|letzte[ns]?|seit|vor|bis|nach|à|avant|après|depuis|en|antes de|después de|desde|a|prima di|dopo|до|после|на|с) (?P<feast>`+feast+`)(?:,? (?:of )?`+year+`)?`, feastDay, 0),
		unspaced(`(?P<feast>`+feast+`)`, feastDay, 0),
		spaced(year+`[ /-]?q(?P<quarter>[1-4])`, quarterOf, 0),
		spaced(`q(?P<quarter>[1-4])(?:[ /-]?`+year+`)?`, quarterOf, 0),
		spaced(`(?P<quarter>`+nth+`) (?:quarter|quartal)(?: (?:of )?`+year+`)?`, quarterOf, 0),
		unspaced(`第?(?P<quarter>[一二三四1-4])季度`, quarterOf, 0),

		spaced(which+` (?P<month>`+month+`)`, monthNamed, 0),
		spaced(`(?P<month>`+month+`)\.?,? (?:of |de |del )?`+year, monthOfYear, 0),
		spaced(in+`(?: of)?[ -](?P<month>`+month+`)`, monthNamed, 0),
		spaced(year+`-(?P<month>\d\d)`, monthOfYear, 0),
		unspaced(`(?:(?P<year>\d{4})[年년] ?|(?P<which>去年|昨年|今年|작년)的? ?)?(?P<month>\d{1,2}|十[一二]|[一二三四五六七八九十])[月월]份?`, monthNamed, 0),
		unspaced(`去年|昨年|작년`, aYear, -1),
		unspaced(`今年|올해`, aYear, 0),
		spaced(in+` (?:the year |dem jahr |jahr )?`+year, givenYear, 0),
		unspaced(`(?P<year>(?:19|20)\d\d) ?[年년]`, givenYear, 0),
	}
})

// spaced is a time in a script with spaces.
func spaced(said string, unit timeUnit, step int) plainTime {
	return plainTime{compiled(`(?:` + said + `)(?:['’]s)?`), true, unit, step}
}

// unspaced is a time in a script without spaces.
func unspaced(said string, unit timeUnit, step int) plainTime {
	return plainTime{compiled(said), false, unit, step}
}

// compiled is a pattern that is compiled at its first use: most of them need a
// digit or a script that a question lacks.
func compiled(said string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(said) })
}

// oneOf matches any of the words, the longest first.
func oneOf[T any](list map[string]T) string {
	all := make([]string, 0, len(list))
	for word := range list {
		all = append(all, word)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return strings.Join(all, "|")
}

// numbered gives words a number each: those between two bars share one.
func numbered(from int, list string) map[string]int {
	numbers := map[string]int{}
	for i, same := range strings.Split(list, "|") {
		for word := range strings.FieldsSeq(same) {
			numbers[word] = from + i
		}
	}
	return numbers
}

var (
	counts = numbered(1, `a an one ein eine einem einer un une uno una um uma один одну 一|two zwei deux dos due dois два две couple 两 二|
		three drei trois tres tre три few paar several quelques unos unas qualche 三 几|four vier quatre cuatro quattro четыре 四|
		five fünf cinq cinco cinque пять 五|six sechs seis sei шесть 六|seven sieben sept siete sette семь 七|eight acht huit ocho otto восемь 八|
		nine neun neuf nueve nove девять 九|ten zehn dix diez dieci десять 十`)
	monthNames = numbered(1, `january januar jan janvier enero gennaio janeiro январе января 一|february februar feb février febrero febbraio fevereiro феврале февраля 二|
		march märz mar mars marzo março марте марта 三|april apr avril abril aprile апреле апреля 四|may mai mayo maggio maio мае мая 五|
		june juni jun juin junio giugno junho июне июня 六|july juli jul juillet julio luglio julho июле июля 七|august aug août agosto августе августа 八|
		september sep sept septembre septiembre settembre setembro сентябре сентября 九|october oct oktober okt octobre octubre ottobre outubro октябре октября 十|
		november nov novembre noviembre novembro ноябре ноября 十一|december dec dezember dez décembre diciembre dicembre dezembro декабре декабря 十二`)
	weekdays = numbered(0, `sunday sonntag dimanche domingo domenica воскресенье 日 天 일|monday montag lundi lunes lunedì понедельник 一 月 월|
		tuesday dienstag mardi martes martedì вторник 二 火 화|wednesday mittwoch mercredi miércoles mercoledì среду 三 水 수|
		thursday donnerstag jeudi jueves giovedì четверг 四 木 목|friday freitag vendredi viernes venerdì пятницу 五 金 금|
		saturday samstag samedi sábado sabato субботу 六 土 토`)
	ordinals = numbered(1, `1 first 1st erstes 1\. 一|2 second 2nd zweites 2\. 二|3 third 3rd drittes 3\. 三|4 fourth 4th viertes 4\. 四`)
	seasons  = map[string]int{
		"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "frühling": 3, "frühjahr": 3, "sommer": 6, "herbst": 9,
		"printemps": 3, "été": 6, "automne": 9, "hiver": 12, "primavera": 3, "verano": 6, "otoño": 9, "invierno": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12,
	}
	// feasts are those that have a date: month, day, and days.
	feasts = map[string][3]int{
		"christmas": christmas, "xmas": christmas, "weihnachten": christmas, "noël": christmas, "navidad": christmas, "natale": christmas, "natal": christmas, "рождества": christmas, "рождество": christmas, "圣诞节": christmas, "圣诞": christmas, "聖誕節": christmas, "クリスマス": christmas, "크리스마스": christmas,
		"christmas eve": {12, 24, 1}, "heiligabend": {12, 24, 1}, "christmas day": {12, 25, 1}, "halloween": {10, 31, 1}, "new year’s eve": {12, 31, 1}, "new year's eve": {12, 31, 1}, "silvester": {12, 31, 1},
		"new year": newYear, "new year’s day": newYear, "new year's day": newYear, "neujahr": newYear, "capodanno": newYear, "元旦": newYear, "新年": newYear,
	}
	christmas, newYear = [3]int{12, 24, 3}, [3]int{1, 1, 1}
	timeUnits          = map[string]rune{
		"day": 'd', "days": 'd', "tag": 'd', "tage": 'd', "tagen": 'd', "jour": 'd', "jours": 'd', "día": 'd', "días": 'd', "giorno": 'd', "giorni": 'd', "dia": 'd', "dias": 'd', "день": 'd', "дня": 'd', "дней": 'd', "天": 'd', "日": 'd', "일": 'd',
		"week": 'w', "weeks": 'w', "woche": 'w', "wochen": 'w', "semaine": 'w', "semaines": 'w', "semana": 'w', "semanas": 'w', "settimana": 'w', "settimane": 'w', "неделю": 'w', "недели": 'w', "недель": 'w', "周": 'w', "週": 'w', "週間": 'w', "星期": 'w', "주": 'w',
		"month": 'm', "months": 'm', "monat": 'm', "monate": 'm', "monaten": 'm', "mois": 'm', "mes": 'm', "meses": 'm', "mese": 'm', "mesi": 'm', "mês": 'm', "месяц": 'm', "месяца": 'm', "месяцев": 'm', "月": 'm', "달": 'm',
		"year": 'y', "years": 'y', "jahr": 'y', "jahre": 'y', "jahren": 'y', "an": 'y', "ans": 'y', "année": 'y', "années": 'y', "año": 'y', "años": 'y', "anno": 'y', "anni": 'y', "ano": 'y', "anos": 'y', "год": 'y', "года": 'y', "лет": 'y', "年": 'y', "년": 'y',
	}
	whichOne = map[string]which{
		"this": thisOne, "diese": thisOne, "diesen": thisOne, "diesem": thisOne, "dieser": thisOne, "dieses": thisOne, "今年": thisOne,
		"last": lastOne, "past": lastOne, "letzte": lastOne, "letzten": lastOne, "letzter": lastOne, "letztes": lastOne,
		"vergangene": lastOne, "vergangenen": lastOne, "去年": yearBefore, "昨年": yearBefore, "작년": yearBefore,
	}
)
