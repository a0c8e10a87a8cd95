/**
 * How much a decoded text looks like text at all. The lists hold the characters that are most frequent in running text of each
 * language; real text consists of them to a large share, text decoded by a wrong table hits them by chance only.
 */
const FREQUENT = {
  simplified:
    '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运交货同号质量报告七三',
  traditional:
    '的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作里用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運',
  korean:
    '이다는을의에가고한지하로사기어도를그나아자은리라서들있시인해스대일만것부정과장보수전원제조용선구성주상여오무유안마소동생면우물경계적연간모물세비위국트때거개없러방발했며내신치관공회었음게되등습니년월화미차바말야더작실학체문였통교행진건입까할결중심분',
} as const;

const FREQUENT_SETS = {
  simplified: new Set(FREQUENT.simplified),
  traditional: new Set(FREQUENT.traditional),
  korean: new Set(FREQUENT.korean),
};

const JAPANESE_KANJI = new Set(
  '日一国人年大十二本中長出三時行見月後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨会同事自社発者地業方新場員立開手力問代明動京目通言理体田主題意不作用度強公持野以思家世多正安院心界教文元重近考画海売知道集別物使品計死特私始朝運終台広住真有口少町料工建空急止送切転研足究楽起着店病質待試族銀早映親験英医仕去味写字答夜音注帰古歌買悪図週室歩風紙黒花春赤青館屋色走秋夏習駅洋旅服夕借曜飲肉貸堂鳥飯勉冬昼茶弟牛魚兄犬妹姉漢在庫個次荷告報',
);

export type CjkLanguage = 'simplified' | 'traditional' | 'japanese' | 'korean';

const CJK_PUNCTUATION = /[\u3000-\u303f\uff00-\uff65\u2018-\u201d\u2026\u2014\u00b7]/;

/** Share of frequent characters in running text is about this or more; measured shares are scaled by it. */
const TYPICAL = { simplified: 0.55, traditional: 0.55, japanese: 0.75, korean: 0.6 };

export function scoreCjk(text: string, language: CjkLanguage): number {
  let letters = 0;
  let frequent = 0;
  let strange = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x80 || CJK_PUNCTUATION.test(char)) continue;
    letters++;
    if (isFrequent(char, code, language)) frequent++;
    else if (!isOfLanguage(code, language)) strange++;
  }
  if (letters === 0) return 0;
  return Math.max(0, Math.min(1, frequent / letters / TYPICAL[language]) - 2 * (strange / letters));
}

function isFrequent(char: string, code: number, language: CjkLanguage): boolean {
  if (language !== 'japanese') return FREQUENT_SETS[language].has(char);
  return (code >= 0x3041 && code <= 0x30fe) || JAPANESE_KANJI.has(char);
}

function isOfLanguage(code: number, language: CjkLanguage): boolean {
  if (language === 'korean') return code >= 0xac00 && code <= 0xd7a3;
  return code >= 0x4e00 && code <= 0x9fff;
}

const CYRILLIC_FREQUENT = new Set('оеаинтсрвлкмдпуіїєґяыьгз');

/** Lower-case letters that are frequent, in words that do not change case from small to large. */
export function scoreCyrillic(text: string): number {
  let others = 0;
  let letters = 0;
  let good = 0;
  let before = '';
  for (const char of text) {
    const code = char.charCodeAt(0);
    if (code >= 0x400 && code <= 0x491) {
      letters++;
      const small = char === char.toLowerCase();
      // A Cyrillic letter within a Latin word is a letter of that word, read by the wrong table.
      if (/[a-z]/i.test(before)) good--;
      else if (small && CYRILLIC_FREQUENT.has(char)) good++;
      else if (!small && isSmallCyrillic(before)) good--;
    } else if (code >= 0x80 && !TYPOGRAPHIC.has(char)) others++;
    before = char;
  }
  if (letters < 2) return 0;
  return Math.max(0, Math.min(1, good / letters / 0.7) - others / (letters + others));
}

function isSmallCyrillic(char: string): boolean {
  return (char >= 'а' && char <= 'џ') || char === 'ґ';
}

const TYPOGRAPHIC = new Set('“”„‘’‚–—…€£«»°§©®™•·№×±½¼¾²³¿¡†‡‰\u00a0');

const SCRIPTS = {
  greek: { letter: /[\u0370-\u03ff]/, frequent: new Set('αοιετσνηυρπκμλςίόάέήώ') },
  hebrew: { letter: /[\u05d0-\u05ea]/, frequent: new Set('יוהלאתרבשמנדםחק') },
  arabic: { letter: /[\u0621-\u06d2]/, frequent: new Set('اليمونرتبةعدسفهكقأحج') },
  thai: { letter: /[\u0e01-\u0e5b]/, frequent: new Set('านรอกเงมยลวดทสตะปบคหแจพช่้์ี็ัิ') },
};

export function scoreScript(text: string, script: keyof typeof SCRIPTS): number {
  const { letter, frequent } = SCRIPTS[script];
  let letters = 0;
  let good = 0;
  let others = 0;
  for (const char of text) {
    if (char < '\u0080') continue;
    if (letter.test(char)) {
      letters++;
      if (frequent.has(char)) good++;
    } else if (!TYPOGRAPHIC.has(char)) others++;
  }
  if (letters < 4) return 0;
  // Words in these scripts stand by themselves: a text of single letters between ASCII ones is something else.
  const runs = text.match(new RegExp(`${letter.source}{2,}`, 'g'))?.join('').length ?? 0;
  return Math.max(0, Math.min(1, good / letters / 0.75) * (runs / letters) - (2 * others) / (letters + others));
}

/** Alphabets beside A-Z by group of languages: a text is of one of the group. Western ones often quote each other. */
const LATIN = {
  western: ['éèàçêôîâûùëïäöüßñóíáúåøæãõœìòÄÖÜÉÅØÀÇÑÁÓÍÚ'],
  central: ['ąćęłńóśźżĄĆĘŁŃÓŚŹŻ', 'áčďéěíňóřšťúůýžľĺŕôäÁČĎÉĚÍŇÓŘŠŤÚŮÝŽ', 'áéíóöőúüűÁÉÍÓÖŐÚÜŰ', 'ăâîşţĂÂÎŞŢ', 'čćđšžČĆĐŠŽ'],
  turkish: ['ğışçöüâîĞİŞÇÖÜ'],
};

/**
 * Letters that the languages use, next to other letters; typographic marks next to none. A mark or a capital inside a word is
 * what the wrong table yields. The bare Western reading is preferred: it is by far the most frequent one.
 */
export function scoreLatin(text: string, languages: keyof typeof LATIN): number {
  return (
    Math.max(...LATIN[languages].map((alphabet) => scoreAlphabet(text, new Set(alphabet)))) * (languages === 'western' ? 1 : 0.93)
  );
}

function scoreAlphabet(text: string, known: ReadonlySet<string>): number {
  const chars = [...text];
  let total = 0;
  let good = 0;
  for (const [index, char] of chars.entries()) {
    if (char < '\u0080') continue;
    total++;
    const inWord = isSmall(chars[index - 1]) && isSmall(chars[index + 1]);
    if (known.has(char)) good += char === char.toLowerCase() || !isSmall(chars[index - 1]) ? 1 : -1;
    else if (TYPOGRAPHIC.has(char)) good += inWord && char !== '’' ? -1 : 0.9;
    else if (/\p{L}/u.test(char)) good += 0.1;
    else good -= 1;
  }
  if (total === 0) return 0;
  const share = total / Math.max(1, chars.length);
  // Even French and Czech have no more than a fifth of such letters.
  const density = share > 0.35 ? 0.35 / share : 1;
  return Math.max(0, (good / total) * density);
}

function isSmall(char: string | undefined): boolean {
  return char !== undefined && /\p{Ll}/u.test(char);
}
