/** How a full stop behind an abbreviation is read. */
export type AbbreviationKind =
  /** What it stands before always follows. */
  | 'never'
  /** A name follows, unless a word does that begins sentences. */
  | 'before-name'
  /** An abbreviation before a number only: "No. 12". */
  | 'before-number'
  /** May end a sentence: only when a word follows that begins sentences. */
  | 'may-end';

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
    a.m p.m u.s u.k u.n e.u u.s.a d.c ph.d m.d b.a m.a b.sc m.sc ll.b ll.m inc ltd co corp bros llc plc gmbh cie
    jr etc al et.al usw usf ff est dept univ assn ave blvd rd hwy apt bldg
    jan feb apr jun jul aug sep sept oct nov dec tue tues thur thurs
    mio mrd tel str ee.uu s.a c.v av edo min std sek
    janv févr avr juil sept déc ene abr ago sep dic कि.मी लि`,
};

export const ABBREVIATIONS: ReadonlyMap<string, AbbreviationKind> = new Map(
  (Object.keys(LISTS) as AbbreviationKind[]).flatMap((kind) => words(LISTS[kind]).map((word) => [word, kind] as const)),
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
    el los las una unos unas él ella ellos ellas nosotros yo este esta estos estas eso en con por para pero y o si cuando como después`),
);

function words(list: string): string[] {
  return list.split(/\s+/).filter((word) => word !== '');
}
