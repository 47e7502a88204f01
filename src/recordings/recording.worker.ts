/**
 * Process that only reads untrusted recordings: it can open no file except the program's, and is given the bytes to
 * read.
 */
import { serveHost } from '../platform/hosts/serve-host.js';
import { readRecording } from './read-recording.js';
import type { RecordingProtocol } from './recording-reader.js';
import { RecordingError } from './types.js';

serveHost<RecordingProtocol>(() => ({
  answers: {
    ready: () => null,
    read: async ({ bytes, limits }) => {
      try {
        return await readRecording(bytes, limits);
      } catch (error) {
        if (error instanceof RecordingError) return { fault: error.fault, message: error.message };
        throw error;
      }
    },
  },
  notices: {},
}));
