import { expect, it } from 'vitest';
import { meaningDetail, troubleOfMeaning } from './service-state.js';

it('The state of the service says in words why records have no vectors', () => {
  expect(meaningDetail({ state: 'ready', failed: 1, pending: 0, error: 'unknown-words' })).toBe(
    '1 record has no vector: the built-in model knows none of the words; searches by words still find such records',
  );
  expect(meaningDetail({ state: 'failing', failed: 2, pending: 1, error: 'The model answered 500.' })).toBe(
    '2 records have no vectors, 1 more waits for one: The model answered 500.',
  );
  expect(meaningDetail({ state: 'failing', failed: 0, pending: 3 })).toBe(
    '0 records have no vectors, 3 more wait for one: failing',
  );
});

it('A record that shares no word with another one is no trouble, and a failure among such records is reported', () => {
  const ready = { state: 'ready', pending: 0, error: 'unknown-words' };
  const ofRecords = { 'unknown-words': 3, 'no-text': 1 };
  expect(troubleOfMeaning({ ...ready, failed: 4, reasons: ofRecords })).toBeUndefined();
  expect(troubleOfMeaning({ ...ready, failed: 6, reasons: { ...ofRecords, refused: 2 } })).toBe(
    '2 records have no vectors: the model refuses the text',
  );
  const failing = { state: 'failing', pending: 1, error: 'The model answered 500.' };
  expect(troubleOfMeaning({ ...failing, failed: 4, reasons: ofRecords })).toBe(
    '0 records have no vectors, 1 more waits for one: The model answered 500.',
  );
});
