/**
 * Function words by language: articles, prepositions, pronouns, auxiliaries, question words. They stay in the index and
 * in the query, but next to a content word they weigh less (`FUNCTION_WORD_WEIGHT`): "what is a boundary layer" is
 * about boundary layers. Written in lower case without diacritics, as the analyser folds them.
 */

const WORDS_BY_LANGUAGE: Readonly<Record<string, string>> = {
  en: `a about above after all also although am an and any are as at be because been before being between both but by
    can cannot could did do does doing during each for from further had has have having he her here his how however i if
    in into is it its itself may me might more most must my no nor not of off on once one only or other our out over own
    same she should since so some such than that the their them then there these they this those through thus to too
    under until up upon us use used using very was we well were what when where whether which while who whom whose why
    will with within without would you your among amongst anyone anything concerning despite either etc even ever every
    including like many much neither never often per regarding several somebody someone something still toward towards
    unless various via whatever whenever whichever yet`,
  de: `aber alle allem allen aller alles als also am an andere anderen anderer auch auf aus bei beim bin bis bist da
    dabei dadurch daher damit dann das dass davon dazu dein dem den denn der deren des dessen die dies diese diesem diesen
    dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas euch fur gegen hat hatte hatten haben
    hier hinter ich ihm ihn ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jene kann kein keine
    keinen konnen man mehr mein mich mir mit muss nach nicht noch nun nur ob oder ohne sehr sein seine seinem seinen seiner
    seit sich sie sind so sollen soll sondern uber um und uns unter vom von vor wahrend war waren warum was weil welche
    welcher wenn wer werden wie wieder will wir wird wo wurde wurden zu zum zur zwischen`,
  fr: `a afin ai ainsi alors apres as au aucun aussi autre autres aux avant avec avoir avait c ca car ce cela celle celles
    celui ces cet cette ceux chaque chez comme comment d dans de depuis des deux dont donc du elle elles en encore entre
    est et etait etaient ete etre eu eux fait font fut ici il ils j je jusque l la le les leur leurs lors lui m ma mais me
    meme mes moi moins mon n ne ni nos notre nous on ont ou par parce pas pendant peu peut plus pour pourquoi qu quand que
    quel quelle quelles quels qui quoi s sa sans se selon sera ses si soit son sont sous suis sur t ta te tes toi ton tous
    tout toute toutes tres tu un une vers vos votre vous y`,
  es: `a al algo algun alguna algunos ante antes aqui asi aun aunque bajo bien cada como con contra cual cuales cuando
    cuanto de del desde donde dos durante e el ella ellas ellos en entre era eran es esa esas ese eso esos esta estaba
    estan estar estas este esto estos fue fueron ha habia han hasta hay la las le les lo los mas me mi mis mucho muy nada
    ni no nos nosotros o os otra otras otro otros para pero poco por porque pues que quien quienes se sea segun ser si
    sido siempre sin sobre son su sus tambien tan tanto te tiene tienen todo todos tu tus u un una unas uno unos y ya yo`,
  it: `a ad ai al alla alle allo anche ancora avere aveva c che chi ci come con contro cosa cui d da dagli dai dal dalla
    dalle degli dei del della delle dello di dopo dove e ed era erano essere fa fino fra gli ha hanno ho i il in io l la
    le lei li lo loro lui ma me mentre mi mia mio molto ne negli nei nel nella nelle no noi non nostro o ogni oltre per
    perche pero piu poi prima qual quale quali quando quanto quella quelle quelli quello questa queste questi questo qui
    se sei senza si sia sono sopra sotto sta stata stato su sua sue sugli sui sul sulla sulle suo suoi tra tu tua tuo
    tutti tutto un una uno vi voi`,
  pt: `a ainda ao aos apos aquela aquele aquilo as ate cada com como contra cujo da das de dela dele deles depois desde
    do dos durante e ela elas ele eles em entre era eram essa essas esse esses esta estao estas estava este estes eu foi
    foram ha isso isto ja la lhe mais mas me mesmo meu minha muito na nao nas nem no nos nossa nosso num numa o onde os ou
    outra outras outro outros para pela pelas pelo pelos por porque qual quais quando quanto que quem se seja sem ser seu
    seus sido so sob sobre sua suas tambem tao te tem tinha todo todos tu tudo um uma umas uns voce`,
  nl: `aan al alle als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen
    geweest haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon kunnen maar me meer men
    met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen tot u uit uw
    van veel voor want waren was wat welke werd wezen wie wil worden wordt zal ze zelf zich zij zijn zo zonder zou`,
  sv: `alla allt an and andra att av bara blev bli blir da de dem den denna deras dess dessa det detta dig din dina du
    efter ej eller en er ett fran for genom ha hade han hans har henne hennes hon honom hur i icke ingen inom inte jag ju
    kan kunde man med mellan men mig min mina mot mycket nagon nagot nar ni nu och om oss pa samma sedan sig sin sina
    skulle som till under upp ut utan vad var vara vara vem vi vid vilka vilken vilket`,
  no: `alle at av bare begge ble bli blir da de dem den denne der dere deres det dette din disse du eller en er et
    etter for fordi fra ha hadde han hans har hennes her hun hva hvem hver hvilken hvis hvor hvordan hvorfor i ikke ingen
    inn jeg kan kunne man med mellom men mer mot mye ned noe noen nar og ogsa om opp oss over pa sa samme seg selv sin
    sine skal skulle slik som til under ut uten var vart ved vi vil ville vare vaere`,
  da: `af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din dog du efter eller en end er
    et for fordi fra for ham han hans har have havde hende hendes her hos hun hvad hvem hver hvilken hvis hvor hvordan
    hvorfor i ikke ind ingen jeg kan kunne man mange med meget mellem men mig min mod ned noget nogle nu nar og ogsa om op
    os over pa samme selv sig sin skal skulle som sadan thi til ud under uden var ved vi vil ville vor vaere vaeret`,
  fi: `ei eika ehka eli en etta han hanen he heidan hyvin ilman itse ja jo joita joka jos josta jota jotka kanssa keita
    ken kuin kuinka kuka kun me mina minun missa mista mita mitka mika milla minka mutta myos nama ne niin niita no noin
    nuo nyt olen oli olisi olivat ole on ollut olla ovat sama se sen sina sinun sita silla siina tai tama taman tassa te
    vaan vai vaikka viela voi`,
  ru: `а без более бы был была были было быть в вам вас вдруг ведь во вот все всего всех вы где да даже два для до его ее
    если есть еще же за здесь и из или им их к как какая какой когда которая которое которые который кто куда ли лучше
    между меня мне много может можно мой моя мы на над надо наш не него нее ней нельзя нет ни них но ну о об один он она
    они оно от перед по под после потом потому почти при про раз с сам свою себе себя сейчас со так такой там тебя тем
    теперь то тогда того тоже только том тот три тут ты у уже хоть чего чем через что чтоб чтобы чуть эти этого этой этом
    этот эту я`,
  hu: `a abban ahhoz ahogy aki akik akkor alatt altal am ami amely amelyek amint annak arra az azok azon azt azzal azert
    be belul benne cikk csak de e eddig egesz egy egyeb egyik egyes ehhez el eleg ellen elo elott en ennek erre es ez ezek
    ezen ezert ezt ezzel fel fele felett hanem hiszen hogy hogyan igen igy illetve is ismet itt jo kell kellett ki kivul
    koze kozott kozul le legyen lehet lett ma maga majd mar mas meg mellett mely melyek mert mi miert mig mikor milyen
    mind minden mint mivel most nagy nagyon ne neha nekem nem nincs o oda ok oket olyan ott ossze pedig persze s sajat sem
    sok szamara szerint szinte tehat te tobb tovabb ugy ugyanis utan utana vagy vagyok valaki valami van vannak vele vissza
    volt voltak volna`,
  ro: `a acea aceasta acest aceste acestui acolo ai al ale alta alte alti altul am ar are as asa asupra at ati au avea
    avem ca care cat catre ce cea cei cel cele celor cum cu cui da daca dar de deci deja despre din dintre doar dupa ea ei
    el ele era este eu fara fi fie fiecare fost i ii il imi in inainte intr intre isi la le li lor lui mai mea mei meu mult
    ne nici noi nostru nu o ori pe pentru peste pina prin sa sai sau se si sint spre sub sunt te toate tot tu un una unde
    unei unele uni unor unui va voi vor`,
  tr: `acaba ama ancak artik asla aslinda az bana bazi belki ben beni benim beri bir biraz biri birkac biz bize bizim bu
    buna bunda bundan bunlar bunu bunun burada cok cunku da daha de defa degil diger diye dolayi en gibi gore hangi hatta
    hem henuz hep hepsi her hic icin ile ilgili ise iste kadar karsi kendi kez ki kim mi mu nasil ne neden nerede niye o
    olan olarak oldu oldugu olmak olsa olur on ona ondan onlar onu onun oyle pek sadece sanki sen siz sonra su sunu tum ve
    veya ya yani yerine yine yoksa zaten`,
  ca: `a al als amb aquell aquella aquest aquesta aquests aixo be cada com d de del dels des despres dins e el ella ells
    els em en encara entre era es esta estat etc fer fins ha han havia hi i ja jo l la les li llur lo m ma mateix me mes
    meu molt n na ni no nosaltres o on per pero perque poc qual quan que qui s sa se segons sense ser seu si sobre son
    sota sovint t tan te tot tots tu un una unes uns us va van vostre`,
  id: `ada adalah agar akan aku anda antara apa apakah atas atau bagi bahwa banyak beberapa belum bisa bukan dalam dan
    dapat dari daripada dengan di dia hanya harus ia ini itu jika juga kalau kami kamu karena ke kepada ketika kita lagi
    lain lebih maka masih mereka namun oleh pada para saat saja sangat saya sebagai sebuah secara sedang sejak sekarang
    seperti serta setelah suatu sudah supaya tanpa telah tentang tetapi tidak untuk yang`,
  ar: `ان او اذا اي الا التي الذي الذين الى ام انا انت انه انها اين بعد بعض بل بين تحت تلك ثم حتي حتى حول حين حيث خلال ذلك
    على علي عن عند عندما غير فقط في فيه فيها قبل قد كان كانت كل كم كما كيف لا لان لدي لقد لكن لم لن له لها ليس ما متى
    مع من منذ منه منها نحن هذا هذه هل هم هنا هناك هو هي و يا يكون`,
  el: `αι αλλα αν απο αυτα αυτες αυτη αυτο αυτοι αυτος για δε δεν δυο εαν ειμαι ειναι εκει ενα ενας επι ετσι εχει εχουν η
    ηταν θα ισως και κατα κι μα με μεσα μετα μη μην μια μου να ο οι οπου οπως οσο οταν οτι ουτε παρα ποια ποιος που πριν
    προς πως σαν σας σε στα στη στην στις στο στον στους συ τα τη την της τι τις το τοτε του τους των`,
};

const setsByLanguage = new Map<string, ReadonlySet<string>>();
const NONE: ReadonlySet<string> = new Set();

/**
 * Returns the function words of a language by its BCP 47 primary tag. Empty for a language without a list and for
 * `none`.
 */
export function functionWords(language: string): ReadonlySet<string> {
  const known = setsByLanguage.get(language);
  if (known !== undefined) return known;
  const words = WORDS_BY_LANGUAGE[language === 'nb' || language === 'nn' ? 'no' : language];
  const set = words === undefined ? NONE : new Set(words.split(/\s+/u));
  setsByLanguage.set(language, set);
  return set;
}
