import { expect, it } from 'vitest';
import { listResource } from '../../../operations/api/list-schemas.js';
import { text } from './index.js';

it('The console explains each reason why records have no vectors', () => {
  const described =
    /most frequent reason why records failed: (.+?)\. At most/.exec(JSON.stringify(listResource))?.[1] ?? '';
  const reasons = Array.from(described.matchAll(/`([a-z-]+)`/g), ([, reason]) => reason as string);
  expect(reasons).toContain('refused');
  expect(Object.keys(text.meaning.faults).sort()).toEqual(reasons.sort());
});
