import { expect, it } from 'vitest';
import { programOf } from './serve.js';

it('programOf names the program as it is called here: containers and systemd units have no npx gannet', () => {
  expect(programOf({ PATH: '/bin' })).toBe('gannet');
  expect(programOf({ npm_command: 'run-script' })).toBe('npx gannet');
});
