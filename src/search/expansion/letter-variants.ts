/**
 * Finds other letters for the same Japanese or Chinese word, letter by letter: hiragana and katakana (りんご, リンゴ), the
 * mark that repeats a character (人々, 人人), reformed characters whose older forms live on in names (渡邊, 渡辺), and, in
 * texts without kana, traditional and simplified Chinese.
 */
import { chineseForms } from './chinese-forms.js';

const HIRAGANA = /[\u3041-\u3096]/gu;
const KATAKANA = /[\u30a1-\u30f6]/gu;
const KANA_DISTANCE = 0x60;
const REPEATED = /(\p{sc=Han})\1/gu;
const REPEAT_MARK = /(\p{sc=Han})々/gu;

/** Pairs of older and newer form. */
const REFORMED =
  '髙高﨑崎邊辺邉辺澤沢齋斎齊斉國国學学櫻桜濱浜廣広嶋島龍竜瀧滝惠恵壽寿德徳靜静眞真槇槙條条圓円澁渋驛駅縣県區区會会舊旧體体萬万豐豊總総' +
  '藝芸假仮實実寫写當当數数樂楽變変發発來来氣気鐵鉄鹽塩點点獨独讀読續続圖図傳伝轉転戰戦黨党單単彈弾團団對対應応觀観關関歸帰舉挙經経輕軽莖茎' +
  '榮栄營営衞衛驗験檢検險険劍剣獻献廳庁聽聴勞労稻稲擇択釋釈譯訳擔担膽胆晝昼蟲虫淺浅錢銭殘残餘余與与譽誉豫予雙双壓圧爲為亞亜惡悪圍囲醫医' +
  '壹壱飮飲隱隠繪絵樣様搖揺謠謡霸覇拜拝賣売髮髪拔抜晚晩祕秘拂払佛仏竝並寶宝滿満默黙彌弥藥薬靈霊齡齢歷歴曆暦戀恋爐炉樓楼祿禄';
const pairs = Array.from(REFORMED).flatMap((letter, index, letters) =>
  index % 2 === 0 ? [[letter, letters[index + 1] as string] as const] : [],
);
const newer = new Map(pairs);
/** If there are several older forms, the first one wins, which is the most frequent. */
const older = new Map(pairs.map(([from, to]) => [to, from] as const).reverse());

const HAN = /\p{sc=Han}/u;
const KANA = /[\p{sc=Hira}\p{sc=Kana}]/u;

const WAYS: readonly ((text: string) => string)[] = [
  (text) => shifted(text, HIRAGANA, KANA_DISTANCE),
  (text) => shifted(text, KATAKANA, -KANA_DISTANCE),
  (text) => text.replace(REPEATED, '$1々'),
  (text) => text.replace(REPEAT_MARK, '$1$1'),
  (text) => Array.from(text, (letter) => newer.get(letter) ?? letter).join(''),
  (text) => Array.from(text, (letter) => older.get(letter) ?? letter).join(''),
];

/** Returns texts with as many letters, each once, without the text itself. */
export function letterVariants(text: string): readonly string[] {
  const chinese = HAN.test(text) && !KANA.test(text) ? chineseForms(text) : [];
  return [...new Set([...WAYS.map((write) => write(text)), ...chinese])].filter((variant) => variant !== text);
}

function shifted(text: string, letters: RegExp, by: number): string {
  return text.replace(letters, (letter) => String.fromCodePoint((letter.codePointAt(0) as number) + by));
}
