import { expect, it } from 'vitest';
import { LongAnswerError } from '../search/index.js';
import { searchFailure } from './search-failure.js';

function kernelError(code: string, message: string): Error {
  return Object.assign(new Error(message), { name: 'KernelError', code });
}

it('A search that exceeds a limit of the kernel is the fault of the search, and says what exceeds it', () => {
  const failure = searchFailure(kernelError('limit', 'the words of the query are in too many records'), undefined);
  const detail = 'The search cannot be made: the words of the query are in too many records.';
  expect(failure).toMatchObject({ error: { problem: 'unprocessable', detail } });
});

it('A search is put off if its answer has no room beside others, and refused if it has no room alone', () => {
  expect(searchFailure(new LongAnswerError(), undefined)).toMatchObject({ postponed: 'long' });
  expect(searchFailure(new LongAnswerError(), 1000)).toMatchObject({ error: { problem: 'answer-too-large' } });
});
