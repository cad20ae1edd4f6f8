package encoder

import "testing"

// Most words of a language that the table is made for are in it, and fewer of any other.
func TestWordsTellTheLanguage(t *testing.T) {
	for language, c := range map[string]struct {
		text  string
		known bool
	}{
		"English": {"The landlord wants to raise the rent from January, heating included. We painted the kitchen " +
			"and moved the bicycle to the cellar.", true},
		"German": {"Der Vermieter möchte die Miete ab Januar erhöhen, Heizung inbegriffen. Wir haben die Küche " +
			"gestrichen und das Fahrrad in den Keller gebracht.", true},
		"Polish": {"Właściciel chce podnieść czynsz od stycznia, ogrzewanie wliczone. Pomalowaliśmy kuchnię i " +
			"przenieśliśmy rower do piwnicy.", true},
		"Turkish": {"Ev sahibi ocak ayından itibaren kirayı artırmak istiyor, ısıtma dahil. Mutfağı boyadık ve " +
			"bisikleti bodruma taşıdık.", true},
		"Korean": {"집주인이 일월부터 임대료를 올리려고 합니다. 부엌을 칠하고 자전거를 지하실로 옮겼습니다.", true},
		"Swedish": {"Hyresvärden vill höja hyran från januari, uppvärmningen ingår. Vi målade köket och flyttade " +
			"cykeln till källaren.", false},
		"Danish": {"Udlejeren ønsker at hæve huslejen fra januar, varmen er inkluderet. Vi malede køkkenet og " +
			"flyttede cyklen ned i kælderen.", false},
		"Finnish": {"Vuokranantaja haluaa korottaa vuokraa tammikuusta alkaen, lämmitys sisältyy. Maalasimme " +
			"keittiön ja siirsimme polkupyörän kellariin.", false},
		"Czech": {"Majitel chce od ledna zvýšit nájemné včetně topení. Vymalovali jsme kuchyň a přestěhovali " +
			"kolo do sklepa.", false},
		"Hungarian": {"A tulajdonos januártól emelni akarja a bérleti díjat, fűtéssel együtt. Kifestettük a konyhát, " +
			"és levittük a kerékpárt a pincébe.", false},
		"Romanian": {"Proprietarul vrea să mărească chiria din ianuarie, încălzirea fiind inclusă. Am zugrăvit " +
			"bucătăria și am mutat bicicleta în pivniță.", false},
		"Greek": {"Ο ιδιοκτήτης θέλει να αυξήσει το ενοίκιο από τον Ιανουάριο, με τη θέρμανση. Βάψαμε την " +
			"κουζίνα και κατεβάσαμε το ποδήλατο.", false},
	} {
		known, all, err := Words(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := 2*known >= all; got != c.known {
			t.Errorf("%s: %d of %d words are known", language, known, all)
		}
	}
}
