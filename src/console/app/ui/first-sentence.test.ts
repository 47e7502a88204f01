import { expect, it } from 'vitest';
import { text } from '../messages/index.js';
import { firstSentence } from './first-sentence.js';

it('firstSentence leaves out the next step of an empty state', () => {
  expect(firstSentence(text.webhooks.none)).toBe('No webhooks yet.');
  expect(firstSentence('No hits.')).toBe('No hits.');
});
