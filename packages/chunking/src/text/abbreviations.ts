/** How a full stop behind an abbreviation is read. */
export type AbbreviationKind =
  /** What it stands before always follows. */
  | 'never'
  /** A name follows, unless a word does that begins sentences. */
  | 'before-name'
  /** An abbreviation before a number only: "No. 12". */
  | 'before-number'
  /** May end a sentence: only when a word follows that begins sentences. */
  | 'may-end'
  /** Ends one whenever a capital follows: "etc.", "5 p.m." */
  | 'list-end';

const LISTS: Record<AbbreviationKind, string> = {
  never: `
    e.g i.e eg ie cf viz vs approx ca resp incl excl
    mr mrs ms mx messrs dr prof rev hon gen sen rep gov pres capt cmdr col lt sgt maj adm supt
    z.b d.h u.a u.u z.t bzw bzgl ggf evtl inkl exkl sog vgl zzgl dipl ing geb gest u.ä o.ä i.d.r s.o s.u
    hr fr frl
    m mme mlle mm mgr p.ex c.-à-d
    ud uds vd vds sra srta dra d.ª p.ej
    fa mwst ust stk zzt
    डॉ श्री श्रीमती प्रो पं कु रु`,
  'before-name': `st ste mt ft sr dña dn`,
  'before-number': `
    no nos nr fig figs tab eq eqs sec secs ch chap vol vols pp p par para art arts app ex nº núm num pág págs cap
    bd kap abs abb s seite anm ziff zif ed edn ver v issue
    max min ref refs sect item art.nr tlf नं`,
  'may-end': `
    u.s u.k u.n e.u u.s.a d.c ph.d m.d b.a m.a b.sc m.sc ll.b ll.m inc ltd co corp bros llc plc gmbh cie
    jr al et.al ff est dept univ assn ave blvd rd hwy apt bldg
    jan feb apr jun jul aug sep sept oct nov dec tue tues thur thurs
    mio mrd tel str ee.uu s.a c.v av edo min std sek v.chr n.chr
    janv févr avr juil sept déc ene abr ago sep dic कि.मी लि`,
  'list-end': `a.m p.m etc usw usf ecc enz itd itp atd apod osv`,
};

/** Further abbreviations of languages, where the text is known to be in one of them: as words of others they end sentences. */
const BY_LANGUAGE: Readonly<Record<string, Partial<Record<AbbreviationKind, string>>>> = {
  fr: { never: 'env boul éd', 'before-number': 'éd fasc t', 'may-end': 'apr tél hab' },
  es: {
    never: 'aprox sr srta dr dra prof profa ing lic arq avda ej atte excmo ilmo fray',
    'before-name': 'av c pza',
    'before-number': 'vol fasc ap tel',
    'may-end': 'cía depto',
  },
  it: {
    never: 'sig sigg sig.ra sig.na dott dott.ssa dr prof prof.ssa ing avv arch geom rag on egr spett cfr es all',
    'before-name': 'v p.za c.so v.le s ss',
    'before-number': 'pag pagg art artt n nn es tav lett',
    'may-end': 'a.c d.c s.p.a s.r.l tel',
  },
  pt: {
    never: 'sr sra srta srs dr dra drs prof profa eng arq exmo exma aprox obs',
    'before-name': 'av r pça cia',
    'before-number': 'pág págs n.º n.os séc sécs fasc inc al',
    'may-end': 'ltda s.a tel d.c a.c',
  },
  nl: {
    never: 'dhr mevr mw ir drs mr ing bijv bv o.a d.w.z m.b.t i.v.m t.a.v t.o.v m.a.w z.g evt incl excl resp jl nl',
    'before-number': 'blz nr nrs art hfdst afb par jrg dl',
    'may-end': 'b.v n.v tel',
  },
  pl: {
    never: 'zob por np tj tzn tzw m.in ok inż mgr ks hab lek red wyd ang niem',
    'before-name': 'ul al pl os św im',
    'before-number': 'str tab rys rozdz ust pkt poz nr godz',
    'may-end': 'r w tys mln mld zł gr s.a',
  },
  cs: {
    never: 'tj např tzn tzv mj resp ing mgr mudr judr phdr rndr doc čes angl',
    'before-name': 'ul nám sv',
    'before-number': 'str obr tab č čl kap odst písm roč',
    'may-end': 'r hod tis mil mld kč stol s.r.o a.s',
  },
  sv: { never: 't.ex bl.a d.v.s dvs s.k fr.o.m t.o.m ca', 'before-number': 'nr kap kl st', 'may-end': 'kr m.m' },
  da: { never: 'f.eks bl.a dvs ca hhv', 'before-number': 'nr kap kl stk', 'may-end': 'kr m.m' },
  no: { never: 'f.eks bl.a dvs ca hhv', 'before-number': 'nr kap kl pkt', 'may-end': 'kr m.m' },
  ru: {
    never: 'см ср напр т.е т.к т.н ок проф акад доц тов гр им и.о в.т.ч англ нем лат',
    'before-name': 'ул пр просп пл пер наб обл г',
    'before-number': 'рис табл стр с гл разд п пп ст д корп кв оф ред изд вып тел',
    'may-end': 'гг в вв руб коп тыс млн млрд чел',
    'list-end': 'т.д т.п др пр',
  },
};

const ABBREVIATIONS = mapOf(LISTS);

const LANGUAGE_MAPS = new Map(Object.entries(BY_LANGUAGE).map(([lang, lists]) => [lang, mapOf(lists)] as const));
const CYRILLIC = /^[\u0400-\u04ff]/;

/** How a full stop behind this word, in lower case, is read; undefined for a word that is no abbreviation. */
export function abbreviationOf(word: string, lang: string | undefined): AbbreviationKind | undefined {
  // Words in Cyrillic are none of other languages, whichever of its own the text is in.
  const own = LANGUAGE_MAPS.get(CYRILLIC.test(word) ? 'ru' : (lang ?? ''));
  return own?.get(word) ?? ABBREVIATIONS.get(word);
}

function mapOf(lists: Partial<Record<AbbreviationKind, string>>): ReadonlyMap<string, AbbreviationKind> {
  const kinds = Object.keys(lists) as AbbreviationKind[];
  return new Map(kinds.flatMap((kind) => words(lists[kind] ?? '').map((word) => [word, kind] as const)));
}

/** What follows "9 a.m." within a sentence. */
export const AFTER_TIMES: ReadonlySet<string> = new Set(
  words(`monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
    january february march april may june july august september october november december est edt cst pst pdt mst gmt utc cet et pt`),
);

/** Words that follow a German ordinal, and with it form a date or an age. */
export const MONTHS_AND_DAYS: ReadonlySet<string> = new Set(
  words(`januar jänner februar märz april mai juni juli august september oktober november dezember
    montag dienstag mittwoch donnerstag freitag samstag sonntag jahrhundert jahrhunderts jahrtausend`),
);

/** Words that commonly begin a sentence and seldom follow an abbreviation within one. */
export const SENTENCE_STARTERS: ReadonlySet<string> = new Set(
  words(`
    the a an this that these those it its he she they we you i his her their our your my there here
    in on at by for from with without after before during while when where why how what who which if as since because although though
    but and or so yet however moreover furthermore therefore thus then also finally meanwhile instead still
    is are was were do does did can could will would should may must have has had let no not yes some many most all each every both
    nobody nothing everybody everyone everything somebody someone something anyone today tomorrow yesterday now please
    der die das ein eine es er sie wir ihr ich du man in im am an auf aus bei mit nach von vor zu wenn weil obwohl aber und oder doch
    dann danach dabei dazu diese dieser dieses jede jeder alle auch hier dort
    siehe damit dadurch daher deshalb trotzdem jedoch außerdem zudem heute gestern nun jetzt niemand
    le la les un une des il elle ils elles on nous vous je ce cet cette ces dans en sur avec pour par mais et ou donc or puis après avant
    el los las una unos unas él ella ellos ellas nosotros yo este esta estos estas eso en con por para pero y o si cuando como después su sus mi tu es son hay
    yours mine hers ours theirs every several another such
    lui lei noi voi loro gli dei del della questo questa questi quello nel nella di da per con che non ma se poi dopo oggi
    ele ela eles elas nós você os as um uma na no em ao essa esse esta este isso mas depois hoje
    het een hij zij wij jullie deze dit dat maar toen dan daarna vandaag
    on ona ono oni my to ten ta te jest są nie ale potem dziś gdy jeśli
    он она оно они мы вы это этот эта эти в на по с у к и а но потом затем теперь сегодня если когда там здесь
    han hon den det de vi ni men sedan idag när
    je jsou není ale pak potom dnes když`),
);

function words(list: string): string[] {
  return list.split(/\s+/).filter((word) => word !== '');
}
