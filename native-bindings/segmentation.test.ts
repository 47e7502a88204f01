import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kernel } from './index.js';
import { segmentForKernel } from './segmentation.js';

const bar = (text: string): string => text.replaceAll('\u200b', '|');

test('segmentForKernel puts a mark behind each word of a script without spaces', () => {
  expect(bar(segmentForKernel('I 我爱中国 and ภาษาไทย x スーパーマンが。'))).toBe(
    'I 我|爱|中国| and ภาษา|ไทย| x スーパーマン|が|。',
  );
});

test('segmentForKernel leaves other text unchanged', () => {
  for (const text of ['', 'plain', 'Ein Café', '한국어', 'हिन्दी भाषा', 'עברית', '☃ 。']) {
    expect(segmentForKernel(text)).toBe(text);
  }
});

test('segmentForKernel takes linear time for a long run, for which Intl.Segmenter takes quadratic time', () => {
  const text = '我爱中国人民北京天安门广场'.repeat(20_000);
  const before = process.cpuUsage();
  const segmented = segmentForKernel(text);
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(10);
  expect(segmented.replaceAll('\u200b', '')).toBe(text);
});

test('segmentForKernel finds the words at the borders of the pieces that it cuts a long run into', () => {
  const sentence = '我爱中国人民，';
  const run = '中国人民'.repeat(1500);
  expect(bar(segmentForKernel(sentence))).toBe('我|爱|中国|人民|，');
  expect(bar(segmentForKernel(run))).toBe('中国|人民|'.repeat(1500));
});

test('segmentForKernel adds only marks, and at least one to text that the kernel wants segmented', () => {
  const unit = fc.oneof(fc.constantFrom(...'中国ไทยかなカナကမ្ព \u0301a1.。🇩🇪𠀀\u200b'), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 20 }), (units) => {
      const text = units.join('');
      const segmented = segmentForKernel(text);
      expect(segmented.replaceAll('\u200b', '')).toBe(text.replaceAll('\u200b', ''));
      if (kernel.needsSegmentation(text)) expect(segmented).toContain('\u200b');
    }),
    { numRuns: 2000 },
  );
});
