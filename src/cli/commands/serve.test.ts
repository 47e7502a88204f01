import { expect, it } from 'vitest';
import { programOf } from './serve.js';

it('names the program as it is called here: a container and a unit of systemd have no npx gannet', () => {
  expect(programOf({ PATH: '/bin' })).toBe('gannet');
  expect(programOf({ npm_command: 'run-script' })).toBe('npx gannet');
});
