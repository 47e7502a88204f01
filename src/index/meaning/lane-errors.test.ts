import { expect, it } from 'vitest';
import { LaneErrors } from './lane-errors.js';

const always = () => ({ pending: 1, failed: 0 });

it('The error of a lane is that of its latest attempt', () => {
  const errors = new LaneErrors();
  const told = errors.begin('one');
  expect(errors.ofWork(always)).toBeUndefined();
  told('down');
  told('still down');
  expect(errors.ofWork(always)).toBe('still down');
  told(undefined);
  expect(errors.ofWork(always)).toBeUndefined();
  told('down again');
  errors.clear();
  expect(errors.ofWork(always)).toBeUndefined();
});

it('A lane that succeeds does not take back the error of another one', () => {
  const errors = new LaneErrors();
  const [one, two] = [errors.begin('one'), errors.begin('two')];
  one('down');
  two(undefined);
  expect(errors.ofWork(always)).toBe('down');
});

it('A lane without work has no error, whatever failed last', () => {
  const errors = new LaneErrors();
  errors.begin('one')('down');
  errors.begin('two')('slow');
  expect(errors.ofWork((lane) => ({ pending: 0, failed: lane === 'two' ? 1 : 0 }))).toBe('slow');
  expect(errors.ofWork(() => ({ pending: 0, failed: 0 }))).toBeUndefined();
});

it('What an earlier worker of a lane reports, after it has left or been replaced, counts no more', () => {
  const errors = new LaneErrors();
  const earlier = errors.begin('one');
  earlier('the model is missing');
  errors.end('one');
  expect(errors.ofWork(always)).toBeUndefined();
  earlier('the model is missing');
  expect(errors.ofWork(always)).toBeUndefined();
  errors.begin('one');
  earlier('the model is missing');
  expect(errors.ofWork(always)).toBeUndefined();
});
