import { expect, it } from 'vitest';
import { toldUnreachable } from './file-modes.js';

it('toldUnreachable speaks of one entry in the singular', () => {
  const entry = { path: '/srv/gannet/lists', mode: 0o700, owner: 7 };
  expect(toldUnreachable([entry])).toBe(
    '/srv/gannet/lists cannot be opened by this user, for it belongs to the user with the id 7: chown it, or restore as this user',
  );
  expect(toldUnreachable([entry, entry, entry])).toBe(
    '/srv/gannet/lists and 2 more cannot be opened by this user, for they belong to the user with the id 7: chown them, or restore as this user',
  );
});
