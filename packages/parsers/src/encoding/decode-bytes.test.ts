import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { fixture } from '../../test/parse-file.js';
import { cleanText } from '../clean-text.js';
import { decodeBytes } from './decode-bytes.js';

it.each([
  ['t_utf16le_bom.txt', 'Plan 上不 done\nLine two'],
  ['t_utf16be_bom.csv', 'sku,qty\nA1,3\n'],
  ['t_utf16le_nobom.csv', 'sku,qty\nA1,3\nB2,4\n'],
  ['t_gbk.txt', '合同编号七七四，交货期为三十天。'],
  ['t_sjis.txt', '在庫は十二個です。次の入荷は火曜日です。'],
  ['t_cp1252.txt', 'Price “soft” – €9 café'],
  ['t_utf8_nbsp.txt', 'Total:\u00a040\u00a0kg'],
])('decodes %s', (name, text) => {
  expect(cleanText(decodeBytes(fixture(name)).text)).toBe(text);
});

it.each(['a\0b nulword\n', 'ok\0 and then\n', '\0line', 'Straße\0 9\n'])('%j with a stray NUL stays one-byte text', (text) => {
  expect(decodeBytes(Buffer.from(text)).text).toBe(text);
});

/** Running text, and a short line, of each language with the legacy encodings it is found in. */
const texts: Record<string, { encodings: string[]; long: string; short: string }> = {
  simplified: {
    encodings: ['gb18030', 'gbk', 'utf-16le', 'utf-16be'],
    long: '今天上午，公司召开了一次重要的会议，讨论了下半年的工作计划。经理说，我们需要提高产品的质量，同时降低生产成本。大家都认为这个目标是可以实现的。',
    short: '请在星期五之前提交报告。',
  },
  traditional: {
    encodings: ['big5', 'utf-16le'],
    long: '今天上午，公司召開了一次重要的會議，討論了下半年的工作計劃。經理說，我們需要提高產品的質量，同時降低生產成本。大家都認為這個目標是可以實現的。',
    short: '請在星期五之前提交報告。',
  },
  japanese: {
    encodings: ['shift_jis', 'euc-jp', 'utf-16le'],
    long: '今日の午前中に会社で重要な会議が開かれ、下半期の計画について話し合いました。品質を上げながら費用を下げる必要があると部長が言いました。カタログも新しくします。',
    short: '金曜日までに報告書を出してください。',
  },
  korean: {
    encodings: ['euc-kr', 'utf-16le'],
    long: '오늘 오전에 회사에서 중요한 회의가 열렸고 하반기 업무 계획에 대해 논의했습니다. 부장님은 제품의 품질을 높이면서 비용을 줄여야 한다고 말했습니다.',
    short: '금요일까지 보고서를 제출해 주세요.',
  },
  russian: {
    encodings: ['windows-1251', 'koi8-r', 'cp866', 'iso-8859-5'],
    long: 'Сегодня утром в компании прошло важное совещание, на котором обсудили план работы на второе полугодие. Директор сказал, что нужно повысить качество продукции и снизить расходы.',
    short: 'Сдайте отчёт до пятницы.',
  },
  ukrainian: {
    encodings: ['windows-1251', 'koi8-u'],
    long: 'Сьогодні вранці в компанії відбулася важлива нарада, на якій обговорили план роботи на друге півріччя. Директор сказав, що треба підвищити якість і зменшити витрати.',
    short: "Здайте звіт до п'ятниці.",
  },
  french: {
    encodings: ['windows-1252'],
    long: 'Ce matin, une réunion importante a été organisée à l’entreprise. Le directeur a déclaré qu’il fallait améliorer la qualité, réduire les coûts… « C’est possible », a-t-il ajouté.',
    short: 'Prix : 15 € – café à emporter',
  },
  german: {
    encodings: ['windows-1252'],
    long: 'Heute früh fand in der Firma eine wichtige Besprechung über die Pläne für das zweite Halbjahr statt. Die Qualität müsse größer werden, sagte der Geschäftsführer, „und zwar schnell“.',
    short: 'Bitte bis Freitag zurückschicken: Größe, Maß, Übersicht.',
  },
  spanish: {
    encodings: ['windows-1252'],
    long: '¿Cuándo se celebró la reunión? Esta mañana, según el señor Muñoz, la compañía presentó su plan para el próximo año. ¡Habrá más producción y menos gastos!',
    short: '¡Mañana será otro día, señor Núñez!',
  },
  polish: {
    encodings: ['windows-1250'],
    long: 'Dziś rano w firmie odbyło się ważne spotkanie, na którym omówiono plan pracy na drugie półrocze. Dyrektor powiedział, że trzeba podnieść jakość i obniżyć koszty, żeby się udało.',
    short: 'Proszę wysłać sprawozdanie do piątku, bo będzie później trudniej.',
  },
  czech: {
    encodings: ['windows-1250'],
    long: 'Dnes ráno se ve firmě konala důležitá schůze, na které se projednával plán práce na druhé pololetí. Ředitel řekl, že je třeba zvýšit kvalitu výrobků a snížit náklady.',
    short: 'Příliš žluťoučký kůň úpěl ďábelské ódy.',
  },
  turkish: {
    encodings: ['windows-1254'],
    long: 'Bu sabah şirkette önemli bir toplantı yapıldı ve yılın ikinci yarısının çalışma planı görüşüldü. Müdür, ürünlerin kalitesini artırmak ve giderleri düşürmek gerektiğini söyledi.',
    short: 'Lütfen raporu cuma gününe kadar gönderin, değişiklik yapmayın, ışığı kapatın.',
  },
  greek: {
    encodings: ['windows-1253'],
    long: 'Σήμερα το πρωί έγινε στην εταιρεία μια σημαντική συνάντηση για το σχέδιο εργασίας του δεύτερου εξαμήνου. Ο διευθυντής είπε ότι πρέπει να βελτιωθεί η ποιότητα.',
    short: 'Παρακαλώ στείλτε την αναφορά.',
  },
  hebrew: {
    encodings: ['windows-1255'],
    long: 'הבוקר התקיימה בחברה פגישה חשובה שבה דנו בתוכנית העבודה למחצית השנייה של השנה. המנהל אמר שצריך לשפר את איכות המוצרים.',
    short: 'נא לשלוח את הדוח עד יום שישי.',
  },
  arabic: {
    encodings: ['windows-1256'],
    long: 'عقد هذا الصباح في الشركة اجتماع مهم نوقشت فيه خطة العمل للنصف الثاني من السنة. قال المدير إنه يجب تحسين جودة المنتجات وخفض التكاليف.',
    short: 'يرجى إرسال التقرير قبل يوم الجمعة.',
  },
  thai: {
    encodings: ['windows-874'],
    long: 'เช้าวันนี้บริษัทได้จัดประชุมสำคัญเพื่อหารือเกี่ยวกับแผนงานในครึ่งปีหลัง ผู้จัดการกล่าวว่าต้องปรับปรุงคุณภาพสินค้าและลดต้นทุน',
    short: 'กรุณาส่งรายงานก่อนวันศุกร์',
  },
};

describe('recognises legacy encodings by what their text looks like', () => {
  const cases = Object.entries(texts).flatMap(([language, { encodings, long, short }]) =>
    encodings.flatMap((encoding) => [
      [language, encoding, 'running text', long] as const,
      [language, encoding, 'among ASCII', `Subject: report 2024\n\n${long}\n\nhttps://example.test/a?b=1\n`] as const,
      [language, encoding, 'one line', short] as const,
    ]),
  );
  it.each(cases)('%s in %s, %s', (_, encoding, __, text) => {
    const bytes = new Uint8Array(iconv.encode(text, encoding));
    expect(decodeBytes(bytes).text).toBe(text);
  });
});

it('takes valid UTF-8 for UTF-8, whatever it holds', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }), (text) => {
      expect(decodeBytes(new TextEncoder().encode(`a${text}`)).text).toBe(`a${text}`);
    }),
  );
});

it('says when it guesses, and refuses what no encoding explains', () => {
  const latin = decodeBytes(new Uint8Array([0x61, 0x20, 0xe9]));
  expect(latin.text).toBe('a é');
  expect(latin.warnings).toEqual(['encoding_guessed: windows-1252']);
  const cut = decodeBytes(new TextEncoder().encode('Größe é ü').subarray(0, -1));
  expect(cut.text).toBe('Größe é ');
  expect(cut.warnings[0]).toMatch(/^encoding_guessed: utf-8/);
  const damaged = new TextEncoder().encode(`${texts.russian?.long} ${texts.greek?.long}`);
  damaged[100] = 0xff;
  expect(() => decodeBytes(damaged)).toThrow(expect.objectContaining({ code: 'encoding_unknown' }));
});

it('believes a declared encoding that explains the bytes', () => {
  const text = 'naïve Ÿ œuvre';
  const bytes = new Uint8Array(iconv.encode('Škoda', 'windows-1250'));
  expect(decodeBytes(bytes, { declared: 'windows-1250' })).toEqual({ text: 'Škoda', encoding: 'windows-1250', warnings: [] });
  expect(decodeBytes(new TextEncoder().encode(text), { declared: 'iso-8859-1' }).text).toBe(text);
});

it('reads seven-bit Japanese by its escape sequences', () => {
  const bytes = Uint8Array.from(Buffer.from('\x1b$B$3$s$K$A$O\x1b(B, kettle', 'latin1'));
  expect(decodeBytes(bytes).text).toBe('こんにちは, kettle');
});

it.each([
  ['iso-8859-1', [0x93, 0x80, 0x94, 0x92], '“€”’'],
  ['windows-1252', [0x93, 0x80, 0x94, 0x96], '“€”–'],
  ['ks_c_5601-1987', [0x8c, 0x63, 0xb9, 0xe6], '똠방'],
  ['koi8-u', [0xa4, 0xa6, 0xa7], 'єії'],
  ['gb2312', [0xc4, 0xe3, 0x80 + 1, 0x40], '你丂'],
])('decodes %s by the table of the WHATWG standard', (declared, bytes, text) => {
  expect(decodeBytes(Uint8Array.from(bytes), { declared }).text).toBe(text);
});

it.each([
  ['ks_c_5601-1989', 'euc-kr table of windows-949', [0x8c, 0x63], '똠'],
  ['iso-8859-9', 'windows-1254', [0xd0, 0xdd], 'Ğİ'],
  ['tis-620', 'windows-874', [0xa1, 0x85], 'ก…'],
  ['x-sjis', 'Shift_JIS with the signs of NEC and IBM', [0x87, 0x40], '①'],
  ['ibm866', 'cp866', [0x8f, 0xe0], 'Пр'],
  ['x-mac-cyrillic', 'Mac OS Cyrillic', [0x8f, 0xf0], 'Пр'],
  ['windows-1253', 'Greek with its accents', [0xa2, 0xed], 'Άν'],
])('the label %s means %s', (declared, _, bytes, text) => {
  expect(decodeBytes(Uint8Array.from(bytes), { declared }).text).toBe(text);
});

it('warns of every character that is lost', () => {
  expect(decodeBytes(new TextEncoder().encode('a\u0093soft\u0094 tide \ufffd')).warnings).toEqual(['characters_lost: 3']);
  expect(decodeBytes(new TextEncoder().encode('soft tide')).warnings).toEqual([]);
  const bytes = Buffer.concat([iconv.encode('在庫は十二個です。次の入荷は火曜日です。', 'shift_jis'), Buffer.from([0xff, 0x20])]);
  expect(decodeBytes(bytes, { declared: 'shift_jis' }).warnings).toEqual(['characters_lost: 1']);
});
