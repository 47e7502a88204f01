/** Worker for the tests of hosts, which does what it is asked, good and bad, in a thread or in a process. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { ServiceError } from '#src/platform/errors.js';
import { serveHost } from '#src/platform/hosts/serve-host.js';

serveHost((data, emit) => {
  const told = [];
  const held = [];
  return {
    answers: {
      echo: (ask) => ({ ask, data, told: [...told], pid: process.pid }),
      refuse: (/** @type {string} */ detail) => {
        throw new ServiceError('conflict', detail);
      },
      fail: () => {
        throw new TypeError('a bug');
      },
      die: () => {
        setImmediate(() => {
          throw new Error('dead');
        });
        return new Promise(() => undefined);
      },
      hang: () => {
        for (;;);
      },
      grow: () => {
        for (;;) held.push(Buffer.alloc(8 * 2 ** 20, 1));
      },
      may: (/** @type {string} */ path) => ({
        read: codeOf(() => readFileSync(path)),
        write: codeOf(() => writeFileSync(path, '')),
        start: codeOf(() => spawnSync('true')),
      }),
      wait: (_ask, call) =>
        new Promise((resolve) => {
          emit('waiting', true);
          call.signal.addEventListener('abort', () => {
            emit('cancelled', true);
            resolve(null);
          });
        }),
    },
    notices: {
      note: (text) => {
        told.push(text);
        emit('noted', text);
      },
    },
    close: () => {
      emit('closed', true);
      if (told.includes('fail to close')) throw new Error('cannot be closed');
    },
  };
});

function codeOf(action) {
  try {
    action();
    return 'done';
  } catch (error) {
    return error.code;
  }
}
