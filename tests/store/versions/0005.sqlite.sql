BEGIN TRANSACTION;
CREATE TABLE ctxasm_alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT ctxasm_alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "ctxasm_alembic_version" VALUES('0005');
CREATE TABLE ctxasm_answers (
	dataset_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	query_id TEXT NOT NULL, 
	payload TEXT NOT NULL, 
	PRIMARY KEY (dataset_id, position), 
	FOREIGN KEY(dataset_id) REFERENCES ctxasm_datasets (dataset_id) ON DELETE CASCADE
);
INSERT INTO "ctxasm_answers" VALUES(2,0,'q1','{"answer":"At the desk [1].","sources":[{"n":1,"text":"desk"}],"labels":[{"ok":true}],"metadata":{"model":"none"}}');
INSERT INTO "ctxasm_answers" VALUES(2,1,'q1','{"answer":"At the desk too [1].","sources":[],"labels":[],"metadata":{}}');
INSERT INTO "ctxasm_answers" VALUES(3,0,'en-stitches-family','{"answer":"The stitches are removed after ten to fifteen days [1]. Your family can sleep in the family house beside the hospital for \u20ac 32 a night with breakfast [2].","sources":[],"labels":[],"metadata":{}}');
INSERT INTO "ctxasm_answers" VALUES(4,0,'q1','{"answer":"At the desk [1].","sources":[{"n":1,"text":"desk"}],"labels":[{"ok":true}],"metadata":{"model":"none"}}');
INSERT INTO "ctxasm_answers" VALUES(4,1,'q1','{"answer":"At the desk too [1].","sources":[],"labels":[],"metadata":{}}');
CREATE TABLE ctxasm_chunks (
	place INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	start_char INTEGER, 
	end_char INTEGER, 
	page_number INTEGER, 
	section TEXT, 
	row_number INTEGER, 
	token_count INTEGER, 
	overlap_chars INTEGER, 
	overlap_kind TEXT, 
	overlap_tokens INTEGER, 
	lead_tokens INTEGER, 
	duplicate_key BLOB, 
	content_hash BLOB NOT NULL, 
	metadata TEXT, 
	quiet INTEGER, 
	PRIMARY KEY (place)
);
INSERT INTO "ctxasm_chunks" VALUES(8589934592,'The car park is open all night. You pay',0,39,1,'Parking',7,10,NULL,NULL,NULL,NULL,X'15C2A6E041CFBCD4672A52E1CBFF69CE',X'15C2A6E041CFBCD4672A52E1CBFF69CE','{"tokens":9}',23);
INSERT INTO "ctxasm_chunks" VALUES(8589934593,'open all night. You pay at the desk.',16,52,1,NULL,NULL,10,23,'offsets',6,5,X'881C29E79400E5EC373B893F85FB9E31',X'881C29E79400E5EC373B893F85FB9E31',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(8589934595,'Visitors may stay until eight.',NULL,NULL,NULL,NULL,NULL,7,NULL,NULL,NULL,NULL,X'F2E6A08DD9F1460733D3D5381976ED80',X'F2E6A08DD9F1460733D3D5381976ED80',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(10737418240,'''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	',NULL,NULL,NULL,'''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	',NULL,45,NULL,NULL,NULL,NULL,X'88ACCE539F564F5C1A09159F777A9DBB',X'0F0561D7068A28E00D7098A778C49698','{"''; DROP TABLE ctxasm_chunks; -- \" % _ \\ \u00e9 \u00df \u0130 \ud83d\udc69\u200d\ud83d\ude80 \u05e9\u05dc\u05d5\u05dd <script>alert(1)</script> [1] <|endoftext|>\r\n\t":["''; DROP TABLE ctxasm_chunks; -- \" % _ \\ \u00e9 \u00df \u0130 \ud83d\udc69\u200d\ud83d\ude80 \u05e9\u05dc\u05d5\u05dd <script>alert(1)</script> [1] <|endoftext|>\r\n\t"]}',16);
INSERT INTO "ctxasm_chunks" VALUES(15032385535,'The last possible index.',NULL,NULL,NULL,NULL,NULL,5,NULL,NULL,NULL,NULL,X'AB33CD11E7E715D190EC91076D9BD04C',X'AB33CD11E7E715D190EC91076D9BD04C',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(15032385536,'Bezoekuren en afspraken voor bezoekers

Bezoek doet deugd. Het geeft patiënten moed en helpt hen herstellen. Tegelijk hebben patiënten rust en verzorging nodig. Daarom vragen wij u om de bezoekuren te volgen. Deze uren gelden vanaf 13 maart 2023.

Bezoekuren per afdeling

Op de gewone verpleegafdelingen bent u elke dag welkom van 15 tot 19 uur. In het weekend en op feestdagen is er bezoek van 14 tot 19 uur. Wij laten één bezoeker tegelijk toe op de kamer, met een maximum van twee bezoekers per dag.

Voor een aantal afdelingen gelden andere uren:

- intensieve zorg: van 16 tot 16.30 uur, één bezoeker per patiënt;
- hartbewaking (CCU): van 16 tot 16.30 uur en van 19 tot 19.30 uur;
- materniteit: de partner is welkom van 10 tot 20 uur, ander bezoek van 16 tot 18 uur;
- kinderafdeling: één ouder mag dag en nacht blijven, ander bezoek is niet toegelaten;
- geriatrie: van 14 tot 18 uur;
- palliatieve eenheid: geen vaste uren, in overleg met de verpleegkundigen;
- dagziekenhuis: geen bezoek en geen begeleiders.',0,1019,NULL,'Bezoekuren per afdeling',NULL,346,NULL,NULL,NULL,NULL,X'9BF17B9AF89B79E2A66C93BF8FB1153B',X'1E331A28CA024F88A057A0B61FE96400',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(15032385537,'blijven, ander bezoek is niet toegelaten;
- geriatrie: van 14 tot 18 uur;
- palliatieve eenheid: geen vaste uren, in overleg met de verpleegkundigen;
- dagziekenhuis: geen bezoek en geen begeleiders.

Kinderen op bezoek

Kinderen jonger dan twaalf jaar mogen niet op bezoek komen, behalve op de materniteit als broer of zus van de baby.

Hygiëne

Ontsmet uw handen bij het binnenkomen en het verlaten van de kamer. Ga niet op het bed zitten en gebruik het toilet in de gang. Hebt u koorts, hoest u of hebt u buikgriep, stel uw bezoek dan uit. Een chirurgisch mondmasker is verplicht in het hele ziekenhuis, vanaf de inkomhal. U koopt een masker voor € 1 aan de automaat bij de ingang.

Bloemen zijn niet toegelaten. Cadeautjes geeft u af aan de verpleegpost.
',820,1579,NULL,'Hygiëne',NULL,249,199,'offsets',70,278,X'A79580B29D55E67517277ECF0F4E510B',X'21DD736888AC195CE33CEDA6BF5509C4',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(17179869184,'Bezoekuren en afspraken voor bezoekers

Bezoek doet deugd. Het geeft patiënten moed en helpt hen herstellen. Tegelijk hebben patiënten rust en verzorging nodig. Daarom vragen wij u om de bezoekuren te volgen. Deze uren gelden sinds 5 januari 2026 en vervangen alle vroegere regelingen.

Bezoekuren per afdeling

Op de gewone verpleegafdelingen bent u elke dag welkom van 14 tot 20 uur, ook in het weekend en op feestdagen. Wij laten twee bezoekers tegelijk toe op de kamer. Komt u met meer, wissel dan af in de cafetaria.

Voor een aantal afdelingen gelden andere uren:

- intensieve zorg: van 15 tot 15.30 uur en van 19 tot 19.30 uur, twee bezoekers per patiënt;
- hartbewaking (CCU): van 15 tot 16 uur en van 19 tot 19.30 uur;
- materniteit: de partner is welkom van 8 tot 22 uur, ander bezoek van 15 tot 19 uur;
- kinderafdeling: ouders mogen dag en nacht blijven, ander bezoek van 14 tot 19 uur;
- geriatrie: van 11 tot 20 uur, zodat familie kan helpen bij het middagmaal;',0,976,NULL,'Bezoekuren per afdeling',NULL,332,NULL,NULL,NULL,NULL,X'7B7AB0E819318F1C5BECBA9219AA5CC1',X'362C6E228143F8EF86E5DF5E9D0E08CD',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(17179869185,'22 uur, ander bezoek van 15 tot 19 uur;
- kinderafdeling: ouders mogen dag en nacht blijven, ander bezoek van 14 tot 19 uur;
- geriatrie: van 11 tot 20 uur, zodat familie kan helpen bij het middagmaal;
- palliatieve eenheid: geen vaste uren, in overleg met de verpleegkundigen;
- dagziekenhuis: geen bezoek, één begeleider mag mee tot in de wachtruimte.

Kunt u alleen buiten deze uren komen, bijvoorbeeld door uw werk? Spreek dan vooraf af met de hoofdverpleegkundige.

Kinderen op bezoek

Kinderen van alle leeftijden zijn welkom, onder begeleiding van een volwassene. Op intensieve zorg bespreekt u een bezoek van een kind jonger dan twaalf jaar vooraf met de verpleegkundige. Zij kan het bezoek voorbereiden met een kijkdoosje en foto’s van de toestellen.

Hygiëne

Ontsmet uw handen bij het binnenkomen en het verlaten van de kamer. Ga niet op het bed zitten en gebruik het toilet in de gang. Hebt u koorts, hoest u of hebt u buikgriep, stel uw bezoek dan uit. Een mondmasker is alleen nog verplicht wanneer dat op de kamerdeur staat.',775,1814,NULL,'Bezoekuren per afdeling',NULL,336,201,'offsets',70,262,X'CC6F3A1DD648B9E19EF32EBE157B39A8',X'D66DAF706B512EFA991CB06145613584',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(17179869186,'verlaten van de kamer. Ga niet op het bed zitten en gebruik het toilet in de gang. Hebt u koorts, hoest u of hebt u buikgriep, stel uw bezoek dan uit. Een mondmasker is alleen nog verplicht wanneer dat op de kamerdeur staat. Hangt er een gekleurde kaart op de deur, meld u dan eerst bij de verpleegkundigen: de patiënt ligt in isolatie en u krijgt uitleg over beschermende kledij.

Bloemen zijn toegelaten, behalve op intensieve zorg, de afdeling hematologie en de kamers met een isolatiekaart. Potplanten met aarde zijn nergens toegelaten.

Huisdieren

Blijft iemand langer dan zeven dagen opgenomen, dan kan een hond of kat op bezoek komen in de ontmoetingsruimte naast de binnentuin, op woensdag en zaterdag van 14 tot 16 uur. De hoofdverpleegkundige vraagt dat minstens twee dagen vooraf aan. Assistentiehonden zijn altijd welkom, ook op de kamer.
',1590,2442,NULL,'Hygiëne',NULL,273,224,'offsets',70,267,X'286DA757E59A382E9DA8ACDA656ABCDB',X'5A6C2CB68DFBE515D626A3CBA538988A',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(19327352832,'Bloedafname

Voor een bloedafname met een voorschrift van uw huisarts of specialist hebt u geen afspraak nodig. Wilt u niet wachten, boek dan een tijdsblok via mijn.azwilgenduin.example.

Openingsuren afnamecentrum

- Campus Molenveld, gebouw A, gelijkvloers, onthaal 5: maandag tot en met vrijdag van 7 tot 18 uur, zaterdag van 8 tot 11.30 uur
- Campus Sluispoort, wachtzaal 1: maandag tot en met vrijdag van 7.30 tot 12 uur

Op zon- en feestdagen is het afnamecentrum gesloten. Het is het drukst tussen 8 en 9.30 uur; na 10 uur wacht u zelden langer dan tien minuten.

Moet u nuchter zijn?

Voor de meeste bloedonderzoeken hoeft u niet nuchter te zijn. Staat er ‘nuchter’ op uw aanvraag, eet dan acht tot twaalf uur vooraf niet. Water drinken mag altijd. Koffie, thee, melk en frisdrank mogen niet. Rook niet in het uur voor de afname. Neem uw medicatie pas na de afname als uw arts een spiegel wil bepalen, bijvoorbeeld van lithium, digoxine of een middel tegen epilepsie; noteer dan het uur van uw laatste inname.',0,1017,NULL,'Moet u nuchter zijn?',NULL,342,NULL,NULL,NULL,NULL,X'CCDC3F74AF05EBC106024E03FAD8EDF5',X'29871A67D17E8C50A50E10963CA0F3D7',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(19327352833,'frisdrank mogen niet. Rook niet in het uur voor de afname. Neem uw medicatie pas na de afname als uw arts een spiegel wil bepalen, bijvoorbeeld van lithium, digoxine of een middel tegen epilepsie; noteer dan het uur van uw laatste inname.

Een suikerbelastingstest (OGTT) duurt ruim twee uur en gebeurt alleen op afspraak, op werkdagen tussen 8 en 10 uur.

Bloedverdunners, flauwvallen en kinderen

Neemt u bloedverdunners, zeg het dan en druk na de prik vijf minuten op het verband. Viel u al eens flauw, dan prikken wij terwijl u ligt. Voor kinderen kan vooraf een verdovende zalf aangebracht worden; die moet een uur inwerken. Vraag het voorschrift aan uw arts en breng de pleister thuis aan.

Urine, stoelgang en stalen van thuis

Ochtendurine geeft u binnen twee uur af, of u bewaart ze in de koelkast en brengt ze binnen 24 uur. Schrijf naam, geboortedatum en uur op het potje. Potjes krijgt u gratis aan onthaal 5.

Resultaten

De meeste resultaten staan dezelfde dag om 18 uur in het dossier van de arts die het onderzoek aanvroeg. U ziet ze zelf na twee werkdagen in uw onlinedossier.',779,1872,NULL,'Moet u nuchter zijn?',NULL,346,238,'offsets',70,273,X'2BEAECA210F24F7C08840DA5B5639F47',X'2017652A71C33490F33E6438B296DAB4',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(19327352834,'en uur op het potje. Potjes krijgt u gratis aan onthaal 5.

Resultaten

De meeste resultaten staan dezelfde dag om 18 uur in het dossier van de arts die het onderzoek aanvroeg. U ziet ze zelf na twee werkdagen in uw onlinedossier. Sommige kweken duren een week. Het afnamecentrum deelt geen resultaten mee per telefoon.

Prijs

Uw ziekenfonds betaalt het grootste deel. Het remgeld ontvangt u op factuur. Bepalingen die niet terugbetaald worden, zoals sommige vitamines, kosten € 8 tot € 35; de medewerker zegt dat vooraf.
',1642,2165,NULL,'Resultaten',NULL,160,230,'offsets',68,279,X'63421032ADA5FB3AC02AD1D7EA32894B',X'198616BF6FD9324BD29FB33D249B8B16',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(21474836480,'Cardiologie: waar vindt u ons?

De dienst cardiologie werkt op twee campussen. Kijk op uw afspraakbevestiging op welke campus u verwacht wordt: de campussen liggen vier kilometer uit elkaar.

Campus Molenveld

De raadpleging cardiologie bevindt zich op campus Molenveld, gebouw B, verdieping 2, onthaal 24. Volg vanaf de inkomhal in gebouw A de rode lijn op de vloer. Neem na de bloemenwinkel de liften van gebouw B. De wandeling duurt vijf minuten; wie moeilijk stapt, kan aan het onthaal gratis een rolstoel lenen.

De hartkatheterisatie en de hartbewaking (CCU) liggen één verdieping hoger, op verdieping 3 van gebouw B. De verpleegafdeling cardiologie is B4. Het centrum voor hartrevalidatie vindt u op het gelijkvloers van gebouw C, naast de zwembadingang.

Openingsuren onthaal 24: maandag tot en met donderdag van 8 tot 17.30 uur, vrijdag van 8 tot 16 uur.

Campus Sluispoort

Op campus Sluispoort houden de cardiologen raadpleging op dinsdag en donderdag, van 9 tot 12 uur en van 13.30 tot 17 uur.',0,1005,NULL,'Campus Molenveld',NULL,336,NULL,NULL,NULL,NULL,X'78DF7BB899B95309AF0B42A5E905D7A3',X'BFCF491956CB42AD57514570C6E464DF',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(21474836481,'van 8 tot 17.30 uur, vrijdag van 8 tot 16 uur.

Campus Sluispoort

Op campus Sluispoort houden de cardiologen raadpleging op dinsdag en donderdag, van 9 tot 12 uur en van 13.30 tot 17 uur. U meldt zich aan op het gelijkvloers, wachtzaal 3. Op deze campus gebeuren alleen raadplegingen, ECG’s en echografieën van het hart. Voor een fietsproef, een Holter of een hartkatheterisatie moet u altijd op campus Molenveld zijn.

Hartkatheterisatie: uw aankomst

Komt u voor een geplande hartkatheterisatie, meld u dan om 7 uur aan in de opnamedienst in de inkomhal van gebouw A. Na de inschrijving brengt een vrijwilliger u naar B3. Familie kan wachten in de wachtruimte naast de liften van B3; de arts spreekt hen daar na de ingreep aan.

Een hartkatheterisatie duurt meestal 45 tot 60 minuten. Gebeurt het onderzoek langs de pols, dan kunt u vaak dezelfde avond naar huis. Gebeurt het langs de lies, dan blijft u minstens zes uur plat liggen en overnacht u op B4.',817,1774,NULL,'Hartkatheterisatie: uw aankomst',NULL,323,188,'offsets',70,267,X'FD5BA8725C49644C78CE447612D9ECF8',X'BB8BF7EDB2392D50F0386F24FB4992A7',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(21474836482,'duurt meestal 45 tot 60 minuten. Gebeurt het onderzoek langs de pols, dan kunt u vaak dezelfde avond naar huis. Gebeurt het langs de lies, dan blijft u minstens zes uur plat liggen en overnacht u op B4.

Rechtstreekse nummers

- Secretariaat cardiologie campus Molenveld: 0999 55 24 00
- Secretariaat cardiologie campus Sluispoort: 0999 55 74 00
- Pacemakercontrole en telemonitoring: 0999 55 24 12, op werkdagen van 9 tot 12 uur
- Hartrevalidatie: 0999 55 24 30
',1572,2035,NULL,'Rechtstreekse nummers',NULL,166,202,'offsets',67,257,X'FF2F65194F02994F90E200A774D9DFEE',X'76BE9F0B880EF21FB1BDAB632B89634C',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(23622320128,'Raadpleging cardiologie

Op de raadpleging cardiologie komen mensen met klachten zoals pijn op de borst, hartkloppingen, kortademigheid of flauwvallen. Ook wie al een hartziekte heeft, komt hier op controle. Uw cardioloog bekijkt samen met u wat er aan de hand is en welke onderzoeken nodig zijn.

Hoe verloopt een eerste raadpleging?

Een verpleegkundige ontvangt u, meet uw bloeddruk, uw gewicht en het zuurstofgehalte in uw bloed en maakt een elektrocardiogram (ECG). Dat duurt ongeveer tien minuten en doet geen pijn. Daarna gaat u naar de cardioloog. De raadpleging zelf duurt gemiddeld 30 minuten. Voor een controleraadpleging rekenen wij 15 minuten.

U brengt best uw identiteitskaart en de verwijsbrief van uw huisarts mee. Breng ook een lijst mee van alle geneesmiddelen die u neemt, met de dosis, en verslagen van onderzoeken die elders gebeurden. Draagt u een pacemaker of defibrillator, dan hebben wij het kaartje van uw toestel nodig.

Trek kleding aan die u gemakkelijk kunt uitdoen: voor het ECG en de echografie ontbloot u uw bovenlichaam.',0,1055,NULL,'Hoe verloopt een eerste raadpleging?',NULL,329,NULL,NULL,NULL,NULL,X'F8AED91CF3194F4D34F6A2DFCA10AEA6',X'D5A9B5A10C43297330D304ECDB27BAB1',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(23622320129,'die elders gebeurden. Draagt u een pacemaker of defibrillator, dan hebben wij het kaartje van uw toestel nodig.

Trek kleding aan die u gemakkelijk kunt uitdoen: voor het ECG en de echografie ontbloot u uw bovenlichaam. Breng geen bodylotion aan op uw borst, want dan blijven de elektroden slecht kleven. U hoeft niet nuchter te zijn en u neemt uw medicatie zoals gewoonlijk, tenzij uw arts iets anders met u heeft afgesproken.

Onderzoeken op dezelfde dag

Als het kan, plannen wij bijkomende onderzoeken aansluitend op uw raadpleging, zodat u maar één keer hoeft te komen:

- echografie van het hart: 20 tot 30 minuten, geen voorbereiding;
- fietsproef: 30 minuten. Breng sportieve kleding en gesloten schoenen mee en eet de laatste twee uur vooraf niets zwaars. Bètablokkers stopt u alleen als uw cardioloog dat vraagt;
- Holter: u krijgt een klein toestel mee dat uw hartritme 24 of 48 uur registreert. U kunt in die tijd niet douchen of zwemmen. Het toestel brengt u de dag na de registratie vóór 10 uur terug aan onthaal 24;',836,1866,NULL,'Onderzoeken op dezelfde dag',NULL,335,219,'offsets',70,260,X'ABB6B6420F3BD677A8210EEC91A1BF1E',X'F109291F997C78D36AEB442053227EA4',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(23622320130,'Holter: u krijgt een klein toestel mee dat uw hartritme 24 of 48 uur registreert. U kunt in die tijd niet douchen of zwemmen. Het toestel brengt u de dag na de registratie vóór 10 uur terug aan onthaal 24;
- bloeddrukmeting over 24 uur: het toestel meet overdag elk halfuur en ’s nachts elk uur.

Heeft de cardioloog meer tijd nodig of moet een onderzoek voorbereid worden, dan krijgt u een nieuwe afspraak voor u naar huis gaat.

Na de raadpleging

De cardioloog bespreekt de resultaten meteen met u. Uw huisarts ontvangt binnen drie werkdagen een verslag via het beveiligde netwerk. U kunt het verslag zelf lezen in uw dossier op mijn.azwilgenduin.example. Krijgt u een nieuw geneesmiddel voorgeschreven, dan staat het elektronisch voorschrift op uw identiteitskaart.

Rijdt u na een fietsproef of echografie met de wagen naar huis? Dat mag. Alleen wanneer de arts u tijdens de raadpleging een rijverbod oplegt, bijvoorbeeld na onverklaard flauwvallen, moet iemand anders u naar huis brengen.',1661,2655,NULL,'Na de raadpleging',NULL,305,205,'offsets',70,266,X'8937FEE3FE5163AF5C2F4A8435C9C736',X'D7F94F5CAB730B7F2B6A1F56BAA160B7',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(23622320131,'u na een fietsproef of echografie met de wagen naar huis? Dat mag. Alleen wanneer de arts u tijdens de raadpleging een rijverbod oplegt, bijvoorbeeld na onverklaard flauwvallen, moet iemand anders u naar huis brengen.

Afspraak maken

Voor een afspraak op de raadpleging cardiologie belt u het secretariaat op 0999 55 24 00, op werkdagen van 8.30 tot 12 uur en van 13 tot 16.30 uur, of maakt u online een afspraak via mijn.azwilgenduin.example. Houd uw identiteitskaart en uw verwijsbrief bij de hand. Kunt u niet komen, verwittig ons dan minstens 24 uur vooraf. Voor een afspraak die u niet of te laat afzegt, rekenen wij € 25 aan; de ziekteverzekering betaalt dat bedrag niet terug.

Uw bezoek voorbereiden

Breng naar elke raadpleging het volgende mee:

- uw identiteitskaart, of de kids-ID voor kinderen jonger dan twaalf jaar;
- de verwijsbrief van uw huisarts of specialist;
- een actuele lijst van uw geneesmiddelen, ook die zonder voorschrift;
- verslagen en beelden van onderzoeken die in een ander ziekenhuis gebeurden;
- de papieren van uw hospitalisatie- of arbeidsongevallenverzekering, als die van toepassing is.',2438,3564,NULL,'Afspraak maken',NULL,349,217,'offsets',68,238,X'4A880ED138094131C98C34DB6F52F5F5',X'9E785FA742107D2B311EBDAB212FCF4B',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(23622320132,'een actuele lijst van uw geneesmiddelen, ook die zonder voorschrift;
- verslagen en beelden van onderzoeken die in een ander ziekenhuis gebeurden;
- de papieren van uw hospitalisatie- of arbeidsongevallenverzekering, als die van toepassing is.

Meld u bij aankomst eerst aan met uw identiteitskaart aan een zuil in de inkomhal. U krijgt een ticket met een volgnummer en de route. Ga daarmee naar onthaal 24, gebouw B, tweede verdieping. Wees tien minuten voor uw afspraak aanwezig. Moet u door een dringende patiënt langer dan dertig minuten wachten, dan komt een medewerker van cardiologie u dat zeggen.

Dringende klachten

Hebt u plots hevige, drukkende pijn op de borst die langer dan vijftien minuten duurt, straalt de pijn uit naar uw arm of kaak, of zweet u hevig en bent u kortademig? Bel dan onmiddellijk 112. Wacht niet op een afspraak en rijd niet zelf naar het ziekenhuis.
',3321,4206,NULL,'Uw bezoek voorbereiden',NULL,279,243,'offsets',70,280,X'79FDF09618D429B7478ECB38D012D23F',X'495F1D2927BEF78BC21E8DBA3AED9891',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(25769803776,'Contact en route

Adressen en algemene nummers

AZ Wilgenduin is een algemeen ziekenhuis met 486 bedden en twee campussen in Oudermare.

- Campus Molenveld: Wilgenlaan 100, 9999 Oudermare – 0999 55 10 00
- Campus Sluispoort: Sluiskaai 8, 9999 Oudermare – 0999 55 70 00
- Afsprakencentrum: 0999 55 10 10, op werkdagen van 8 tot 18 uur
- Dienst spoed: 0999 55 11 12, dag en nacht
- Algemene vragen: info@azwilgenduin.example

In levensgevaar belt u 112.

Openingsuren

De hoofdingang van campus Molenveld is open van 6 tot 21 uur. Buiten die uren komt u binnen langs de dienst spoed. Het onthaal is bemand op werkdagen van 7 tot 20 uur en in het weekend van 9 tot 19 uur.

De cafetaria ’t Wilgje op het gelijkvloers van gebouw A is open van 8.30 tot 19.30 uur; de keuken serveert warme maaltijden van 11.30 tot 14 uur.',0,816,NULL,'Adressen en algemene nummers',NULL,308,NULL,NULL,NULL,NULL,X'8C829327253C32D43162E42890DA52E5',X'F4BB4BAB283139BD639D090B101B56A2',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(25769803777,'uur en in het weekend van 9 tot 19 uur.

De cafetaria ’t Wilgje op het gelijkvloers van gebouw A is open van 8.30 tot 19.30 uur; de keuken serveert warme maaltijden van 11.30 tot 14 uur. De winkel verkoopt kranten, toiletgerief, bloemen en kleine geschenken, op werkdagen van 8 tot 19 uur en in het weekend van 10 tot 18 uur. Een geldautomaat vindt u naast de winkel.

Campus Sluispoort is open op werkdagen van 7 tot 18.30 uur en gesloten in het weekend.

Met het openbaar vervoer

Van het station van Oudermare rijden bus 12 en bus 14 om het kwartier naar de halte ‘Molenveld Ziekenhuis’; de rit duurt elf minuten. Bus 7 stopt elk halfuur aan campus Sluispoort. Tussen beide campussen rijdt op werkdagen een gratis pendelbus, elk uur op het uur vanaf Molenveld en op het halfuur vanaf Sluispoort, van 8 tot 17 uur.

Met de wagen of de fiets

Van de ringweg neemt u afrit 3 ‘Molenveld’ en volgt u de blauwe borden. Gps-gebruikers geven ‘Wilgenlaan 100’ in.',630,1587,NULL,'Openingsuren',NULL,329,186,'offsets',70,239,X'D44585A450C18EEE80DCE0A9893767EF',X'98878A4440E52A238F893268CFD61933',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(25769803778,'Sluispoort, van 8 tot 17 uur.

Met de wagen of de fiets

Van de ringweg neemt u afrit 3 ‘Molenveld’ en volgt u de blauwe borden. Gps-gebruikers geven ‘Wilgenlaan 100’ in. Tijdens de werken aan de Molenbrug, tot eind september 2026, is de Wilgenlaan alleen bereikbaar langs de Ringlaan. Reken op tien minuten extra.

De fietssnelweg langs de vaart brengt u in twaalf minuten van het centrum tot aan de fietsenstalling.

Wegwijs op de campus

De gebouwen dragen de letters A tot F. Een kamernummer leest u zo: B412 ligt in gebouw B, op de vierde verdieping, kamer 12. Volg vanaf de inkomhal de gekleurde lijnen: rood naar gebouw B, blauw naar medische beeldvorming, groen naar gebouw C, geel naar gebouw D (moeder en kind) en paars naar gebouwen E en F.
',1417,2169,NULL,'Met de wagen of de fiets',NULL,267,170,'offsets',69,261,X'25C0D05633075049FA1FCB0DCE13D6AB',X'5EACE2394E4254570038831A0D908A56',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(27917287424,'The car park is open all night. You pay',0,39,1,'Parking',7,10,NULL,NULL,NULL,NULL,X'15C2A6E041CFBCD4672A52E1CBFF69CE',X'15C2A6E041CFBCD4672A52E1CBFF69CE','{"tokens":9}',23);
INSERT INTO "ctxasm_chunks" VALUES(27917287425,'open all night. You pay at the desk.',16,52,1,NULL,NULL,10,23,'offsets',6,5,X'881C29E79400E5EC373B893F85FB9E31',X'881C29E79400E5EC373B893F85FB9E31',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(27917287427,'Visitors may stay until eight.',NULL,NULL,NULL,NULL,NULL,7,NULL,NULL,NULL,NULL,X'F2E6A08DD9F1460733D3D5381976ED80',X'F2E6A08DD9F1460733D3D5381976ED80',NULL,23);
INSERT INTO "ctxasm_chunks" VALUES(30064771072,'''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	',NULL,NULL,NULL,'''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	',NULL,45,NULL,NULL,NULL,NULL,X'88ACCE539F564F5C1A09159F777A9DBB',X'0F0561D7068A28E00D7098A778C49698','{"''; DROP TABLE ctxasm_chunks; -- \" % _ \\ \u00e9 \u00df \u0130 \ud83d\udc69\u200d\ud83d\ude80 \u05e9\u05dc\u05d5\u05dd <script>alert(1)</script> [1] <|endoftext|>\r\n\t":["''; DROP TABLE ctxasm_chunks; -- \" % _ \\ \u00e9 \u00df \u0130 \ud83d\udc69\u200d\ud83d\ude80 \u05e9\u05dc\u05d5\u05dd <script>alert(1)</script> [1] <|endoftext|>\r\n\t"]}',16);
INSERT INTO "ctxasm_chunks" VALUES(34359738367,'The last possible index.',NULL,NULL,NULL,NULL,NULL,5,NULL,NULL,NULL,NULL,X'AB33CD11E7E715D190EC91076D9BD04C',X'AB33CD11E7E715D190EC91076D9BD04C',NULL,23);
CREATE TABLE ctxasm_datasets (
	dataset_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	loaded_at TEXT NOT NULL, 
	encoding TEXT, 
	documents INTEGER NOT NULL, 
	chunks INTEGER NOT NULL, 
	queries INTEGER NOT NULL, 
	answers INTEGER NOT NULL, 
	replaced INTEGER NOT NULL, 
	content_hash TEXT NOT NULL, 
	origin TEXT, 
	first_document_no INTEGER NOT NULL, 
	UNIQUE (name)
);
INSERT INTO "ctxasm_datasets" VALUES(2,'hospital','2026-11-28T08:43:04.521982+00:00','2026-11-28T08:43:04.521982+00:00','cl100k_base',3,5,2,2,2,'a41ae0b119e7209e9ed020af44c8e7d5','another folder',4);
INSERT INTO "ctxasm_datasets" VALUES(3,'sample','2026-11-28T08:43:04.532934+00:00','2026-11-28T08:43:04.532934+00:00','cl100k_base',6,19,12,1,0,'90f5c19fddb061637be0c68d27b9f37f',NULL,7);
INSERT INTO "ctxasm_datasets" VALUES(4,'replaced','2026-11-28T08:43:04.508332+00:00','2026-11-28T08:43:04.551495+00:00','cl100k_base',3,5,2,2,2,'a41ae0b119e7209e9ed020af44c8e7d5',NULL,13);
CREATE TABLE ctxasm_documents (
	document_no INTEGER NOT NULL, 
	dataset_id INTEGER NOT NULL, 
	document_id TEXT NOT NULL, 
	title TEXT, 
	source TEXT, 
	summary TEXT, 
	date TEXT, 
	metadata TEXT, 
	PRIMARY KEY (document_no), 
	UNIQUE (dataset_id, document_id), 
	FOREIGN KEY(dataset_id) REFERENCES ctxasm_datasets (dataset_id) ON DELETE CASCADE
);
INSERT INTO "ctxasm_documents" VALUES(4,2,'d1','Parkeren','parkeren.html','Over parkeren.','2026-01-02','{"lang":"nl","deep":{"a":[1,null,2.5]}}');
INSERT INTO "ctxasm_documents" VALUES(5,2,'''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	','''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	','''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	','''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	','''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	','{"''; DROP TABLE ctxasm_chunks; -- \" % _ \\ \u00e9 \u00df \u0130 \ud83d\udc69\u200d\ud83d\ude80 \u05e9\u05dc\u05d5\u05dd <script>alert(1)</script> [1] <|endoftext|>\r\n\t":"''; DROP TABLE ctxasm_chunks; -- \" % _ \\ \u00e9 \u00df \u0130 \ud83d\udc69\u200d\ud83d\ude80 \u05e9\u05dc\u05d5\u05dd <script>alert(1)</script> [1] <|endoftext|>\r\n\t","nul":"\u0000\ud800"}');
INSERT INTO "ctxasm_documents" VALUES(6,2,'bare',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ctxasm_documents" VALUES(7,3,'bezoekuren-2023','Bezoekuren en afspraken voor bezoekers (versie 2023)','https://www.azwilgenduin.example/archief/2023/bezoekuren','Deze verouderde pagina uit 2023 geeft de bezoekuren die toen in AZ Wilgenduin golden, met de mondmaskerplicht en de beperkingen van die periode.','2023-03-13','{"language":"nl"}');
INSERT INTO "ctxasm_documents" VALUES(8,3,'bezoekuren-2026','Bezoekuren en afspraken voor bezoekers','https://www.azwilgenduin.example/bezoek/bezoekuren','Deze pagina geeft de bezoekuren die sinds 5 januari 2026 gelden in AZ Wilgenduin, per afdeling, met de afspraken voor bezoekers en de regels bij infectiegevaar.','2026-01-05','{"language":"nl"}');
INSERT INTO "ctxasm_documents" VALUES(9,3,'bloedafname','Bloedafname','https://www.azwilgenduin.example/onderzoeken/bloedafname','Deze pagina geeft de openingsuren van het afnamecentrum van AZ Wilgenduin, de regels om nuchter te zijn voor een bloedafname en de manier waarop u resultaten krijgt.','2025-12-01','{"language":"nl"}');
INSERT INTO "ctxasm_documents" VALUES(10,3,'cardiologie-locatie','Cardiologie: waar vindt u ons?','https://www.azwilgenduin.example/afdelingen/cardiologie/locatie','Deze pagina geeft de locaties van de dienst cardiologie van AZ Wilgenduin op de campussen Molenveld en Sluispoort, met gebouw, verdieping, route vanaf de inkom en openingsuren.','2026-01-12','{"language":"nl"}');
INSERT INTO "ctxasm_documents" VALUES(11,3,'cardiologie-raadpleging','Raadpleging cardiologie','https://www.azwilgenduin.example/afdelingen/cardiologie/raadpleging','Deze pagina beschrijft het verloop van een raadpleging bij de dienst cardiologie van AZ Wilgenduin: duur, voorbereiding, wat u meebrengt en de onderzoeken die dezelfde dag kunnen gebeuren.','2026-02-03','{"language":"nl"}');
INSERT INTO "ctxasm_documents" VALUES(12,3,'contact-route','Contact en route','https://www.azwilgenduin.example/contact','Deze pagina geeft adressen, telefoonnummers en routes naar de campussen Molenveld en Sluispoort van AZ Wilgenduin, met bus, trein, wagen en fiets, en de openingsuren van onthaal, cafetaria en winkel.','2026-03-02','{"language":"nl"}');
INSERT INTO "ctxasm_documents" VALUES(13,4,'d1','Parkeren','parkeren.html','Over parkeren.','2026-01-02','{"lang":"nl","deep":{"a":[1,null,2.5]}}');
INSERT INTO "ctxasm_documents" VALUES(14,4,'''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	','''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	','''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	','''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	','''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	','{"''; DROP TABLE ctxasm_chunks; -- \" % _ \\ \u00e9 \u00df \u0130 \ud83d\udc69\u200d\ud83d\ude80 \u05e9\u05dc\u05d5\u05dd <script>alert(1)</script> [1] <|endoftext|>\r\n\t":"''; DROP TABLE ctxasm_chunks; -- \" % _ \\ \u00e9 \u00df \u0130 \ud83d\udc69\u200d\ud83d\ude80 \u05e9\u05dc\u05d5\u05dd <script>alert(1)</script> [1] <|endoftext|>\r\n\t","nul":"\u0000\ud800"}');
INSERT INTO "ctxasm_documents" VALUES(15,4,'bare',NULL,NULL,NULL,NULL,NULL);
CREATE TABLE ctxasm_kept (
	shelf TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	kept_at TEXT NOT NULL, 
	PRIMARY KEY (shelf, "key")
);
CREATE TABLE ctxasm_queries (
	dataset_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	query_id TEXT NOT NULL, 
	"query" TEXT NOT NULL, 
	hits INTEGER NOT NULL, 
	payload TEXT NOT NULL, 
	PRIMARY KEY (dataset_id, position), 
	UNIQUE (dataset_id, query_id), 
	FOREIGN KEY(dataset_id) REFERENCES ctxasm_datasets (dataset_id) ON DELETE CASCADE
);
INSERT INTO "ctxasm_queries" VALUES(2,0,'q1','Waar kan ik parkeren?',2,'{"answer":"At the desk [1].","search_method":"hybrid_bm25_vector","bm25_matches":3,"best_similarity":0.71,"intent":"facts","supplement":"Extra","retrieved":[["d1",1,-3.25,1,{"bm25":20.5,"vector":0.9}],["d1",3,7,2,{}]],"gold":[["d1",0]],"spans":[["d1",0,10,[["bare",1,2,[]]]]],"history":[["user","Hallo"],["assistant","Dag"]],"metadata":{"difficulty":"easy"}}');
INSERT INTO "ctxasm_queries" VALUES(2,1,'''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	','''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	',0,'{"retrieved":[],"gold":[],"spans":[],"history":[],"metadata":{}}');
INSERT INTO "ctxasm_queries" VALUES(3,0,'bezoek-gewone-afdeling','Wat zijn de bezoekuren op een gewone verpleegafdeling en met hoeveel mag ik komen?',4,'{"answer":"U bent elke dag welkom van 14 tot 20 uur, ook in het weekend, met twee bezoekers tegelijk op de kamer.","search_method":"hybrid_bm25_vector","bm25_matches":12,"best_similarity":0.9175,"intent":"practical_info","retrieved":[["bezoekuren-2023",0,0.032787,1,{"vector":0.9175,"bm25":4.4536}],["bezoekuren-2026",0,0.032258,2,{"vector":0.9167,"bm25":4.1433}],["bezoekuren-2026",1,0.028125,4,{"vector":0.8988,"bm25":1.0071}],["cardiologie-raadpleging",3,0.025479,7,{"vector":0.8643,"bm25":1.0227}]],"gold":[],"spans":[],"history":[],"metadata":{"language":"nl","shows":["outdated","multi_document"]}}');
INSERT INTO "ctxasm_queries" VALUES(3,1,'bezoek-intensieve','Hoe laat mag ik mijn vader bezoeken op intensieve zorg?',5,'{"answer":"Op intensieve zorg is er bezoek van 15 tot 15.30 uur en van 19 tot 19.30 uur, met twee bezoekers per pati\u00ebnt.","search_method":"hybrid_bm25_vector","bm25_matches":12,"best_similarity":0.8913,"retrieved":[["bezoekuren-2026",1,0.032522,1,{"vector":0.8913,"bm25":3.4735}],["bezoekuren-2023",0,0.032018,2,{"vector":0.8822,"bm25":3.629}],["bezoekuren-2026",0,0.031498,4,{"vector":0.8865,"bm25":3.0936}],["cardiologie-raadpleging",3,0.027973,7,{"vector":0.8669,"bm25":1.6356}],["bezoekuren-2023",1,0.027693,9,{"vector":0.8735,"bm25":1.477}]],"gold":[],"spans":[],"history":[],"metadata":{"language":"nl","shows":["outdated"]}}');
INSERT INTO "ctxasm_queries" VALUES(3,2,'bezoek-kinderen-mondmasker','Mag mijn dochter van 9 mee op bezoek en moeten wij een mondmasker dragen?',6,'{"answer":"Ja. Kinderen van alle leeftijden zijn welkom onder begeleiding van een volwassene. Een mondmasker is alleen nog verplicht als dat op de kamerdeur staat.","search_method":"hybrid_bm25_vector","bm25_matches":12,"best_similarity":0.8802,"retrieved":[["bezoekuren-2026",1,0.032787,1,{"vector":0.8802,"bm25":3.6318}],["bezoekuren-2023",1,0.032258,2,{"vector":0.8749,"bm25":3.0652}],["bezoekuren-2026",2,0.031746,3,{"vector":0.8596,"bm25":2.6026}],["bezoekuren-2023",0,0.028083,5,{"vector":0.836,"bm25":2.0488}],["bezoekuren-2026",0,0.027151,8,{"vector":0.8414,"bm25":1.4816}],["cardiologie-raadpleging",3,0.025238,11,{"vector":0.8322,"bm25":1.7591}]],"gold":[],"spans":[],"history":[],"metadata":{"language":"nl","shows":["outdated","expand"]}}');
INSERT INTO "ctxasm_queries" VALUES(3,3,'cardio-duur-meebrengen','Hoelang duurt een raadpleging bij de cardioloog en wat moet ik meebrengen?',8,'{"answer":"De eerste raadpleging duurt gemiddeld 30 minuten. U brengt uw identiteitskaart, de verwijsbrief van uw huisarts, een lijst van uw geneesmiddelen en eventuele verslagen mee.","search_method":"hybrid_bm25_vector","bm25_matches":12,"best_similarity":0.9358,"intent":"department_lookup","supplement":"Afdeling: Cardiologie\nCampus: Molenveld (gebouw B, verdieping 2) en Sluispoort (dinsdag en donderdag)\nSecretariaat: 0999 55 24 00","retrieved":[["cardiologie-raadpleging",0,0.032787,1,{"vector":0.9358,"bm25":4.2376}],["cardiologie-locatie",0,0.031754,2,{"vector":0.9019,"bm25":3.6619}],["cardiologie-raadpleging",3,0.031281,3,{"vector":0.9082,"bm25":2.1208}],["cardiologie-raadpleging",2,0.031258,4,{"vector":0.9075,"bm25":2.4308}],["cardiologie-locatie",1,0.031025,5,{"vector":0.8938,"bm25":2.7694}],["cardiologie-locatie",2,0.029911,6,{"vector":0.8864,"bm25":2.5679}],["cardiologie-raadpleging",1,0.02967,7,{"vector":0.8965,"bm25":1.6111}],["cardiologie-raadpleging",4,0.029199,8,{"vector":0.8869,"bm25":1.9134}]],"gold":[],"spans":[],"history":[],"metadata":{"language":"nl","shows":["expand","overlap","near_duplicates"]}}');
INSERT INTO "ctxasm_queries" VALUES(3,4,'cardio-waar','Waar is cardiologie, welk gebouw en welke verdieping?',6,'{"answer":"De raadpleging cardiologie is op campus Molenveld, gebouw B, verdieping 2, onthaal 24. Volg de rode lijn vanaf de inkomhal.","search_method":"hybrid_bm25_vector","bm25_matches":12,"best_similarity":0.8908,"intent":"department_lookup","supplement":"Afdeling: Cardiologie\nSpecialismen: ritmestoornissen, hartfalen, hartkatheterisatie, hartrevalidatie\nCampus Molenveld: gebouw B, verdieping 2, onthaal 24\nCampus Sluispoort: gelijkvloers, wachtzaal 3","retrieved":[["cardiologie-locatie",0,0.032787,1,{"vector":0.8908,"bm25":5.8461}],["cardiologie-raadpleging",0,0.031754,2,{"vector":0.8615,"bm25":2.7511}],["cardiologie-raadpleging",4,0.030536,3,{"vector":0.8549,"bm25":2.5245}],["cardiologie-locatie",2,0.029139,4,{"vector":0.8561,"bm25":1.6889}],["cardiologie-locatie",1,0.02886,5,{"vector":0.8572,"bm25":1.5444}],["cardiologie-raadpleging",2,0.027271,7,{"vector":0.8459,"bm25":1.4622}]],"gold":[],"spans":[],"history":[],"metadata":{"language":"nl","shows":["multi_document","supplement"]}}');
INSERT INTO "ctxasm_queries" VALUES(3,5,'cardio-sluispoort-fietsproef','Kan ik voor een fietsproef op campus Sluispoort terecht en hoe bereid ik me voor?',8,'{"answer":"Nee, voor een fietsproef moet u op campus Molenveld zijn. Breng sportieve kleding en gesloten schoenen mee, eet de laatste twee uur niets zwaars en stop b\u00e8tablokkers alleen op vraag van uw cardioloog.","search_method":"hybrid_bm25_vector","bm25_matches":11,"best_similarity":0.8811,"retrieved":[["cardiologie-locatie",1,0.032522,1,{"vector":0.8783,"bm25":4.2515}],["contact-route",1,0.031498,3,{"vector":0.8498,"bm25":2.903}],["cardiologie-locatie",0,0.031281,4,{"vector":0.8407,"bm25":3.0566}],["contact-route",2,0.030282,5,{"vector":0.8811,"bm25":1.949}],["cardiologie-locatie",2,0.030077,6,{"vector":0.8366,"bm25":2.4907}],["bloedafname",0,0.027651,8,{"vector":0.8256,"bm25":2.0873}],["cardiologie-raadpleging",1,0.02632,10,{"vector":0.8261,"bm25":1.239}],["cardiologie-raadpleging",3,0.024786,11,{"vector":0.8205,"bm25":1.2647}]],"gold":[],"spans":[],"history":[],"metadata":{"language":"nl","shows":["multi_document","expand"]}}');
INSERT INTO "ctxasm_queries" VALUES(3,6,'wat-meebrengen-raadpleging','Wat moet ik meebrengen naar een raadpleging?',3,'{"answer":"Uw identiteitskaart, de verwijsbrief, een actuele lijst van uw geneesmiddelen, verslagen en beelden van elders en de papieren van uw verzekering.","search_method":"hybrid_bm25_vector","bm25_matches":12,"best_similarity":0.8967,"intent":"practical_info","retrieved":[["cardiologie-raadpleging",0,0.031498,1,{"vector":0.8878,"bm25":1.2665}],["cardiologie-raadpleging",3,0.030769,2,{"vector":0.8862,"bm25":1.1316}],["cardiologie-raadpleging",2,0.028405,8,{"vector":0.8699,"bm25":0.9686}]],"gold":[],"spans":[],"history":[],"metadata":{"language":"nl","shows":["near_duplicates","budget"]}}');
INSERT INTO "ctxasm_queries" VALUES(3,7,'afspraak-afzeggen-kost','Ik kan niet naar mijn afspraak komen. Tot wanneer kan ik kosteloos afzeggen en wat betaal ik anders?',2,'{"answer":"Zegt u minstens 24 uur vooraf af, dan kost het niets; anders betaalt u \u20ac 25 voor een raadpleging. Voor een dagopname of MRI-onderzoek is dat 48 uur en \u20ac 50.","search_method":"hybrid_bm25_vector","bm25_matches":12,"best_similarity":0.8723,"retrieved":[["cardiologie-raadpleging",3,0.031545,1,{"vector":0.8597,"bm25":3.1784}],["cardiologie-raadpleging",4,0.027151,11,{"vector":0.8585,"bm25":1.3997}]],"gold":[],"spans":[],"history":[],"metadata":{"language":"nl","shows":["near_duplicates","budget","low_recall"]}}');
INSERT INTO "ctxasm_queries" VALUES(3,8,'scan-resultaat','Wanneer krijg ik het resultaat van mijn scan?',3,'{"answer":"De aanvragende arts heeft het verslag binnen twee werkdagen; u ziet het zelf online na twee werkdagen en de beelden na een week.","search_method":"hybrid_bm25_vector","bm25_matches":12,"best_similarity":0.876,"retrieved":[["cardiologie-raadpleging",2,0.029418,5,{"vector":0.8564,"bm25":1.7486}],["bloedafname",2,0.02885,6,{"vector":0.8519,"bm25":1.7716}],["bloedafname",1,0.028405,7,{"vector":0.8593,"bm25":1.2503}]],"gold":[],"spans":[],"history":[],"metadata":{"language":"nl","shows":["exact_duplicates"]}}');
INSERT INTO "ctxasm_queries" VALUES(3,9,'contrast-allergie','Ik reageerde vroeger allergisch op contraststof. Wat moet ik doen voor mijn onderzoek?',0,'{"answer":"Meld het bij het maken van de afspraak. De arts schrijft vooraf een middel tegen allergie voor of kiest een ander onderzoek.","search_method":"hybrid_bm25_vector","bm25_matches":12,"best_similarity":0.9008,"retrieved":[],"gold":[],"spans":[],"history":[],"metadata":{"language":"nl","shows":["exact_duplicates","multi_document"]}}');
INSERT INTO "ctxasm_queries" VALUES(3,10,'mri-claustrofobie-metaal','Ik heb claustrofobie en een knieprothese. Kan een MRI dan wel en wat moet ik uitdoen?',2,'{"answer":"Een knieprothese is meestal geen bezwaar. Meld uw angst bij de afspraak: u kunt de zaal vooraf zien, muziek kiezen of iemand naast u laten zitten. Leg alles af wat metaal bevat.","search_method":"hybrid_bm25_vector","bm25_matches":9,"best_similarity":0.893,"retrieved":[["cardiologie-raadpleging",1,0.030777,4,{"vector":0.8552,"bm25":1.4513}],["cardiologie-raadpleging",0,0.028205,6,{"vector":0.8395,"bm25":1.5373}]],"gold":[],"spans":[],"history":[],"metadata":{"language":"nl","shows":["expand","overlap"]}}');
INSERT INTO "ctxasm_queries" VALUES(3,11,'nuchter-operatie','Hoelang moet ik nuchter zijn voor een operatie onder narcose? Mag ik nog water drinken?',1,'{"answer":"Tot 6 uur voor uw aankomst mag u vaste voeding en melk, tot 2 uur vooraf heldere dranken zoals water, thee of koffie zonder melk.","search_method":"hybrid_bm25_vector","bm25_matches":12,"best_similarity":0.8865,"intent":"preparation","retrieved":[["bloedafname",0,0.030092,4,{"vector":0.8608,"bm25":3.6608}]],"gold":[],"spans":[],"history":[],"metadata":{"language":"nl","shows":["multi_document","budget"]}}');
INSERT INTO "ctxasm_queries" VALUES(4,0,'q1','Waar kan ik parkeren?',2,'{"answer":"At the desk [1].","search_method":"hybrid_bm25_vector","bm25_matches":3,"best_similarity":0.71,"intent":"facts","supplement":"Extra","retrieved":[["d1",1,-3.25,1,{"bm25":20.5,"vector":0.9}],["d1",3,7,2,{}]],"gold":[["d1",0]],"spans":[["d1",0,10,[["bare",1,2,[]]]]],"history":[["user","Hallo"],["assistant","Dag"]],"metadata":{"difficulty":"easy"}}');
INSERT INTO "ctxasm_queries" VALUES(4,1,'''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	','''; DROP TABLE ctxasm_chunks; -- " % _ \ é ß İ 👩‍🚀 שלום <script>alert(1)</script> [1] <|endoftext|>
	',0,'{"retrieved":[],"gold":[],"spans":[],"history":[],"metadata":{}}');
CREATE TABLE ctxasm_saved_queries (
	dataset TEXT NOT NULL, 
	query_id TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	"query" TEXT NOT NULL, 
	hits INTEGER NOT NULL, 
	payload TEXT NOT NULL, 
	saved_at TEXT NOT NULL, 
	PRIMARY KEY (dataset, query_id)
);
CREATE TABLE ctxasm_schema (
	version INTEGER NOT NULL, 
	next_document_no INTEGER NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "ctxasm_schema" VALUES(5,16);
CREATE TABLE ctxasm_vectors (
	embedder TEXT NOT NULL, 
	content_key BLOB NOT NULL, 
	vector BLOB NOT NULL, 
	PRIMARY KEY (embedder, content_key)
);
INSERT INTO "ctxasm_vectors" VALUES('an embedder',X'9BF17B9AF89B79E2A66C93BF8FB1153B',X'00FF00');
INSERT INTO "ctxasm_vectors" VALUES('an embedder',X'A79580B29D55E67517277ECF0F4E510B',X'01FF00');
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('ctxasm_datasets',4);
COMMIT;
