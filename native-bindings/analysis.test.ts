import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kernel } from './index.js';
import { segmentForKernel } from './segmentation.js';

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** True if the analyzer counts the segment as a word: it contains a letter, a number or an emoji. */
function isWord(segment: string): boolean {
  return /[\p{L}\p{N}]|(?![\p{ASCII}\p{Emoji_Modifier}©®‼⁉™↔-↙↩↪〰〽])\p{Emoji}/u.test(segment);
}

function wordsOfIntl(text: string): string[] {
  return [...segmenter.segment(text)].map(({ segment }) => segment).filter(isWord);
}

function wordsOfKernel(text: string): string[] {
  return kernel.analyse(text).map(({ begin, end }) => text.slice(begin, end));
}

function terms(text: string): string[] {
  return kernel.analyse(text).map(({ term }) => term);
}

/** The first article of the Universal Declaration of Human Rights and some prose by language, also emoji and code. */
const SAMPLES: Record<string, string> = {
  english:
    "All human beings are born free and equal in dignity and rights. They're endowed (by 1948) with e.g. reason.",
  french: "Tous les êtres humains naissent libres et égaux en dignité et en droits. L'été, aujourd'hui : 3,5 % d'œufs.",
  german: 'Alle Menschen sind frei und gleich an Würde und Rechten geboren. Straßenbahn-Haltestelle Nr. 7b, 1.234,56 €',
  spanish: 'Todos los seres humanos nacen libres e iguales en dignidad y derechos; ¿verdad? ¡Sí!',
  portuguese: 'Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Guarda-chuva.',
  italian: "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. L’amore dell'arte è così.",
  dutch: "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. 's Avonds, zo'n foto's.",
  swedish: 'Alla människor är födda fria och lika i värde och rättigheter. EU:s k:a.',
  norwegian: 'Alle mennesker er født frie og med samme menneskeverd og menneskerettigheter.',
  polish: 'Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.',
  czech: 'Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv.',
  hungarian: 'Minden emberi lény szabadon születik és egyenlő méltósága és joga van.',
  turkish: "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. İstanbul'da 10'uncu.",
  finnish: 'Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan.',
  vietnamese: 'Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.',
  greek: 'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα· ναι;',
  russian: 'Все люди рождаются свободными и равными в своём достоинстве и правах. Т.е. 1948-й год, «да».',
  ukrainian: "Всі люди народжуються вільними і рівними у своїй гідності та правах. Об'єднання, м’який.",
  armenian: 'Բոլոր մարդիկ ծնվում են ազատ ու հավասար՝ իրենց արժանապատվությամբ ու իրավունքներով։',
  georgian: 'ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით.',
  hebrew: "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. צה\"ל, ג'ורג' וצה״ל.",
  arabic: 'يولد جميع الناس أحراراً متساوين في الكرامة والحقوق. وقد وُهبوا عقلاً، ٣٫١٤ و١٬٠٠٠.',
  persian: 'تمام افراد بشر آزاد زاده می‌شوند و از لحاظ حیثیت و کرامت و حقوق با هم برابرند.',
  urdu: 'تمام انسان آزاد اور حقوق و عزت کے اعتبار سے برابر پیدا ہوئے ہیں۔',
  hindi: 'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। १२३',
  bengali: 'সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে।',
  tamil: 'மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; அவர்கள் மதிப்பிலும் சமமானவர்கள்.',
  telugu: 'ప్రతిపత్తిస్వత్వముల విషయమున మానవులెల్లరును జన్మతః స్వతంత్రులును సమానులును నగుదురు.',
  sinhala: 'සියලු මනුෂ්‍යයෝ නිදහස්ව උපත ලබා ඇත. ශ්‍රී ලංකා.',
  tibetan: 'འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས་ཆེ་མཐོངས་དང་།',
  amharic: 'የሰው፡ልጅ፡ሁሉ፡ሲወለድ፡ነጻና፡በክብርና፡በመብትም፡እኩልነት፡ያለው፡ነው።',
  korean: '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. KBS뉴스 2024년, "네".',
  emoji: 'I ❤️ NY 😀😀 👍🏽 👩‍👩‍👧‍👦 🇩🇪🇫🇷 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ok',
  code: 'const snake_case = __init__.foo(a.b, "x:y"); // http://example.com/a_b?c=1.5&d=v1.2.3 user@mail.example.org',
};

describe('word boundaries', () => {
  test.each(Object.entries(SAMPLES))('agree with Intl.Segmenter for %s', (_language, text) => {
    expect(wordsOfKernel(text)).toEqual(wordsOfIntl(text));
    expect(wordsOfKernel(text.normalize('NFC'))).toEqual(wordsOfIntl(text.normalize('NFC')));
  });

  test('agree with Intl.Segmenter around every character of the scripts without dictionaries', () => {
    // The analyzer differs on purpose for jamo (they count as Hangul) and for signs of scripts that ICU segments by dictionary.
    const skipped =
      /[\p{Cn}\p{Co}\p{Cs}\s\p{sc=Hangul}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]/u;
    const unlike = /[\u30fc\uff9e\uff9f\p{Emoji_Modifier}\p{sc=Lana}\p{sc=Talu}\p{sc=Tavt}\p{sc=Ahom}]/u;
    const probes: string[] = [];
    for (let code = 0x21; code < 0x20000; code += 1) {
      const character = String.fromCodePoint(code);
      if (skipped.test(character) || unlike.test(character)) continue;
      probes.push(`a${character}b`, `1${character}2`, `א${character}ב`);
    }
    // All probes are one text, as a call for each would take minutes.
    const text = probes.join('\n');
    expect(probes.length).toBeGreaterThan(100_000);
    const actual = new Map<number, number>(kernel.analyse(text).map(({ begin, end }) => [begin, end]));
    const different: string[] = [];
    let offset = 0;
    for (const probe of probes) {
      const ours: string[] = [];
      for (let at = 0; at < probe.length; at += 1) {
        const end = actual.get(offset + at);
        if (end !== undefined) ours.push(text.slice(offset + at, end));
      }
      if (ours.join('|') !== wordsOfIntl(probe).join('|')) different.push(`${probe}: ${ours.join('|')}`);
      offset += probe.length + 1;
    }
    expect(different).toEqual([]);
  });

  test('agree with Intl.Segmenter on random mixtures of scripts', () => {
    const characters = [..."aZ7_.'\",;:-éßΩжא״ב'ع٣نकि्ა😀👍🏽🇩🇪🇫\u200d\u00ad\u0301 \n&"];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...characters), { maxLength: 24 }), (units) => {
        // Leaves out marks at the start of a word: they belong to the character before it, which the analyzer ignores.
        const text = units.join('').replace(/(^|[\s\p{P}])[\p{M}\p{Cf}\p{Emoji_Modifier}]+/gu, '$1');
        const bare = (words: string[]): string[] => words.map((word) => word.replace(/^[\p{M}\p{Cf}]+/u, ''));
        expect(bare(wordsOfKernel(text))).toEqual(bare(wordsOfIntl(text)));
      }),
      { numRuns: 3000 },
    );
  });
});

describe('segmented text', () => {
  test('is analyzed into the words that Intl.Segmenter finds by dictionary', () => {
    const samples = [
      '我爱中国人民',
      '東京タワーに行きました',
      'ประเทศไทยเป็นประเทศ',
      'ປະເທດລາວ',
      'ប្រទេសកម្ពុជា',
      'မြန်မာနိုင်ငံ',
    ];
    for (const text of samples) {
      expect(wordsOfKernel(segmentForKernel(text))).toEqual(wordsOfIntl(text));
    }
  });

  test('has the same term for a word alone and within a text', () => {
    const word = terms(segmentForKernel('中国'));
    expect(word).toEqual(['中国']);
    expect(terms(segmentForKernel('我爱中国'))).toContain('中国');
  });
});

describe('folding', () => {
  test('gives the same terms for NFC and NFD, and for full and half width', () => {
    for (const text of Object.values(SAMPLES)) {
      expect(terms(text.normalize('NFD'))).toEqual(terms(text.normalize('NFC')));
    }
    expect(terms('ｶﾞﾝﾀﾞﾑ ＡＢＣ')).toEqual(terms('ガンダム ABC'));
  });

  test('ignores case in every alphabet that has it', () => {
    for (const text of Object.values(SAMPLES)) {
      expect(terms(text.toUpperCase())).toEqual(terms(text.toUpperCase().toLowerCase()));
    }
  });

  test('gives token ranges in UTF-16 code units', () => {
    expect(kernel.analyse('a 😀 bé\ud800 c')).toEqual([
      { term: 'a', begin: 0, end: 1, position: 0 },
      { term: '😀', begin: 2, end: 4, position: 1 },
      { term: 'be', begin: 5, end: 7, position: 2 },
      { term: 'c', begin: 9, end: 10, position: 3 },
    ]);
  });

  test('gives ordered ranges within the text for any string', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        let end = 0;
        for (const token of kernel.analyse(text)) {
          expect(token.begin).toBeGreaterThanOrEqual(end);
          expect(token.end).toBeGreaterThan(token.begin);
          expect(token.end).toBeLessThanOrEqual(text.length);
          end = token.end;
        }
        expect(typeof kernel.needsSegmentation(text)).toBe('boolean');
      }),
      { numRuns: 2000 },
    );
  });
});

test('kernel.stems returns one stem for each term, in the order of the text', () => {
  expect(kernel.stems('Diving gannets dive 1950s', 'en')).toEqual(['dive', 'gannet', 'dive', '1950s']);
  expect(kernel.stems('Diving gannets', 'none')).toEqual(['diving', 'gannets']);
  expect(kernel.stems('', 'en')).toEqual([]);
  for (const text of Object.values(SAMPLES)) expect(kernel.stems(text, 'de')).toHaveLength(kernel.analyse(text).length);
});
