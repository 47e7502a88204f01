import fc from 'fast-check';
import { expect, it } from 'vitest';
import { letterVariants } from './letter-variants.js';

it('letterVariants writes Chinese in traditional and in simplified characters', () => {
  expect(letterVariants('台北車站')).toEqual(expect.arrayContaining(['台北车站', '臺北車站']));
  expect(letterVariants('台北车站')).toEqual(expect.arrayContaining(['台北車站', '臺北車站']));
  expect(letterVariants('为群众')).toContain('為群眾');
});

it('letterVariants gives each traditional character of a simplified one, and the character itself', () => {
  expect(letterVariants('头发')).toContain('頭髮');
  expect(letterVariants('发展')).toContain('發展');
  expect(letterVariants('头发展览')).toEqual(expect.arrayContaining(['頭髮展覽', '頭發展覽']));
  expect(letterVariants('皇后')).toContain('皇後');
  expect(letterVariants('王后车')).toContain('王后車');
});

it('letterVariants does not treat a text with kana as Chinese', () => {
  expect(letterVariants('東京タワー')).toEqual(['東京たわー']);
});

it('letterVariants returns a bounded number of distinct variants of the same length', () => {
  const text = fc.stringMatching(/^[台发后里干为线群面\u4e00-\u4e80々ぁ-ん]{0,60}$/u);
  fc.assert(
    fc.property(text, (letters) => {
      const variants = letterVariants(letters);
      expect(variants.length).toBeLessThanOrEqual(24);
      expect(new Set(variants).size).toBe(variants.length);
      for (const variant of variants) expect(Array.from(variant)).toHaveLength(Array.from(letters).length);
    }),
  );
});
