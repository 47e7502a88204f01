import { expect, it } from 'vitest';
import { text } from '../messages/index.js';
import { ServiceProblem } from '../service/client.js';
import { titleOf } from './problem-title.js';

it('titleOf calls an error a refusal only if the request was at fault', () => {
  const titles = [422, 500, 502, 503, 504].map((status) => titleOf(new ServiceProblem(status, {})));
  const { refused, unexpected, unavailable } = text.problems;
  expect(titles).toEqual([refused, unexpected, unavailable, unavailable, unavailable]);
});
